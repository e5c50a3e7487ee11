package Runcible::CustomOp;

use strict;
use warnings;
use parent 'Runcible::Handle';
use Runcible::Arguments qw(path proxy_of refuse set_options);
use Runcible::Tensor;
use Scalar::Util 'looks_like_number';

=head1 NAME

Runcible::CustomOp - a tensor op of the program's own

=head1 SYNOPSIS

    my $op = Runcible::CustomOp->new(
        signature  => 'x F32 [...] -> y F32 [...]',
        attributes => 'scale float',
        library    => './softsign.so',
        symbol     => 'softsign',
        opencl_c   => 'size_t i = get_global_id(0);'
            . 'if (i < x_elements) y[i] = x[i] / (1 + fabs(x[i]) * scale);',
        grid => 'elements(x)',
    );
    my ($y) = $op->compute([$x], scale => 0.5);

=head1 DESCRIPTION

=for header custom_op.h

=head2 new(options...)

An op of kernels, and for devices that compute in host memory a function of C:
C<symbol>, its name in the shared library at the path C<library>, which stays loaded,
or C<address>, where it is. Functions of Perl are none, for the library calls them from
threads of its own.

=for header rc_custom_op_options

=cut

sub new {
    my ($class, %options) = @_;
    my ($address, $library, $symbol) = delete @options{qw(address library symbol)};
    my $made = set_options('custom_op_options', \%options);
    my $name = $options{name} // 'custom_op';
    Runcible::Native::custom_op_options_set_function($made, $address) if defined $address;
    Runcible::Native::custom_op_options_set_function_of($made, path($library),
        $symbol // $name)
        if defined $library;
    return $class->of(
        Runcible::Native::custom_op_create($made),
        name       => $name,
        attributes => [($options{attributes} // '') =~ /(\w+)\s+\w+/g],
        outputs    => Runcible::Native::custom_op_options_outputs($made));
}

=head2 compute(inputs, attributes...)

The outputs of an array of inputs, and of attributes by their names; in scalar context
the first of them. In a graph that records it is recorded.

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
    Runcible::Native::custom_op_compute($proxy, $list, $self->_numbers(%attributes),
        $self->{outputs}, $made);
    my @outputs = map { Runcible::Tensor->of(Runcible::Native::tensor_of_list($made, $_)) }
        0 .. $self->{outputs} - 1;
    return wantarray ? @outputs : $outputs[0];
}

# The attributes in their order.
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
