package Runcible::CustomOp;

use strict;
use warnings;
use parent 'Runcible::Handle';
use Runcible::Arguments qw(dtype_name path proxy_of refuse set_options);
use Runcible::Tensor;
use Scalar::Util 'looks_like_number';

=head1 NAME

Runcible::CustomOp - a tensor op that the program defines

=head1 SYNOPSIS

    my $op = Runcible::CustomOp->new(
        signature  => 'x F32 [...] -> y F32 [...]',
        attributes => 'scale float',
        compute    => sub {
            my ($x, %given) = @_;
            return [map { $_ / (1 + abs($_) * $given{scale}) } @$x];
        },
        opencl_c   => 'size_t i = get_global_id(0);'
            . 'if (i < x_elements) y[i] = x[i] / (1 + fabs(x[i]) * scale);',
        grid => 'elements(x)',
    );
    my ($y) = $op->compute([$x], scale => 0.5);

=head1 DESCRIPTION

=for header custom_op.h

=head2 new(options...)

Makes an op from kernels, and from a function for devices that compute in host memory.
C<compute> is a function of Perl. It receives a reference to an array of the numbers of
each input, row-major, and then pairs: the attributes by name, and C<shapes>, a reference
to an array of the shapes of the inputs and the outputs. It returns a reference to an
array of numbers for each output. The call of the op throws the exception with which the
function dies. The function runs only while C<compute> or C<run> of the op or the graph
waits; in C<run_async> the op throws Runcible::Error::Busy.

A function of C is C<symbol>, its name in the shared library at the path C<library>,
which stays loaded, or C<address>.

=for header rc_custom_op_options

=cut

sub new {
    my ($class, %options) = @_;
    my ($address, $compute, $library, $symbol)
        = delete @options{qw(address compute library symbol)};
    !defined $compute || ref $compute eq 'CODE'
        or refuse("compute must be a function, not $compute");
    !$compute || !defined $options{items}
        or refuse('items divide the work of functions of C; one of Perl has one');
    my $made = set_options('custom_op_options', \%options);
    my $name = $options{name} // 'custom_op';
    Runcible::Native::custom_op_options_set_function($made, $address) if defined $address;
    Runcible::Native::custom_op_options_set_function_of($made, path($library),
        $symbol // $name)
        if defined $library;
    my @names = ($options{attributes} // '') =~ /(\w+)\s+\w+/g;
    return $class->of(
        $compute
        ? Runcible::Native::custom_op_of_function($made, _computing($compute, @names))
        : Runcible::Native::custom_op_create($made),
        name       => $name,
        attributes => \@names,
        outputs    => Runcible::Native::custom_op_options_outputs($made));
}

my %packed = (f32 => 'f*', f64 => 'd*', i8 => 'c*', i16 => 's*', i32 => 'l*', i64 => 'q*');

sub _format {
    my ($dtype) = @_;
    return $packed{ dtype_name($dtype) }
        // refuse('arrays have no numbers of ' . dtype_name($dtype));
}

# The exception of a function within the call that is under way.
our $problem;

# Makes the function that the library calls; see swig/functions.h.
sub _computing {
    my ($compute, @names) = @_;
    return sub {
        my ($inputs, $outputs, $attributes) = @_;
        my @given = map { [unpack _format($_->[0]), $_->[2]] } @$inputs;
        my %named = (shapes => [map { $_->[1] } @$inputs, @$outputs]);
        @named{@names} = @$attributes;
        my @made;
        if (!eval { @made = $compute->(@given, %named); 1 }) {
            $problem = [$@];
            die $@;
        }
        return [map { pack _format($outputs->[$_][0]), @{ $made[$_] // [] } } 0 .. $#$outputs];
    };
}

# Makes a call, and throws the exception of a function that died meanwhile.
sub serving {
    my ($call) = @_;
    my $failure;
    {
        local $problem;
        return if eval { $call->(); 1 };
        $failure = $problem ? $problem->[0] : $@;
    }
    die $failure;
}

=head2 compute(inputs, attributes...)

Returns the outputs for an array of inputs and attributes by their names; in scalar
context the first output. If an input belongs to a graph being recorded, records the op.

=cut

sub compute {
    my ($self, $inputs, %attributes) = @_;
    my $proxy = $self->proxy;
    ref $inputs eq 'ARRAY'
        or refuse('inputs must be a reference to an array of tensors, not '
            . ($inputs // 'undef'));
    my ($list, $made) = map { Runcible::Native::new_tensor_list() } 0 .. 1;
    Runcible::Native::tensor_list_add($list, proxy_of($_, 'Runcible::Tensor', 'an input'))
        for @$inputs;
    my $numbers = $self->_numbers(%attributes);
    serving(sub {
        Runcible::Native::custom_op_compute_serving($proxy, $list, $numbers,
            $self->{outputs}, $made);
    });
    my @outputs = map { Runcible::Tensor->of(Runcible::Native::tensor_of_list($made, $_)) }
        0 .. $self->{outputs} - 1;
    return wantarray ? @outputs : $outputs[0];
}

# Returns a list of the attributes in their order.
sub _numbers {
    my ($self, %attributes) = @_;
    my $list = Runcible::Native::new_number_list();
    for my $name (@{ $self->{attributes} }) {
        my $value = delete $attributes{$name};
        defined $value && looks_like_number($value)
            or refuse("$self->{name} needs the attribute $name, a number, not "
                . ($value // 'undef'));
        Runcible::Native::number_list_add($list, $value);
    }
    refuse("$self->{name} has no attribute $_, but "
            . (join(', ', @{ $self->{attributes} }) || 'none'))
        for sort keys %attributes;
    return $list;
}

1;
