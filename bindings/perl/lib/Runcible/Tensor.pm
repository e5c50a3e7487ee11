package Runcible::Tensor;

use strict;
use warnings;
use parent 'Runcible::Handle';
use List::Util ();
use Scalar::Util qw(looks_like_number refaddr);
use Runcible::Arguments qw(constants dtype_name dtype_number
    optional_proxy_of proxy_of refuse set_options);
use Runcible::Backend;
use overload
    '+'    => sub { $_[0]->add($_[1]) },
    '*'    => sub { $_[0]->mul($_[1]) },
    '-'    => sub { refuse("tensors have no op '-'") },
    '/'    => sub { refuse("tensors have no op '/'") },
    '=='   => sub { ref $_[1] && refaddr($_[0]) == refaddr($_[1]) },
    'bool' => sub {1},
    '""'   => sub { overload::StrVal($_[0]) };

=head1 NAME

Runcible::Tensor - tensors and ops, to compute without a model

=head1 SYNOPSIS

    my $backend = Runcible::Backend->new('cpu');
    my $a = Runcible::Tensor->new([[1, 2, 3], [4, 5, 6]], $backend);
    my $b = Runcible::Tensor->random([3, 4], $backend, seed => 1);
    print "@$_\n" for @{ $a->matmul($b)->softmax->array };

=for header tensor.h

=cut

# The formats of pack and unpack for numbers of these types.
my %packed = (f32 => 'f*', f64 => 'd*', i8 => 'c*', i16 => 's*', i32 => 'l*', i64 => 'q*');
my $functions = constants('FUNCTION_');
use constant ALL => -2**31;    # as the dimension of a reduction

sub _backend { proxy_of($_[0], 'Runcible::Backend', 'backend') }

=head2 new(numbers, backend, shape => ..., dtype => 'f32')

Makes a tensor of the numbers of an array, whose nesting is the shape, or of a flat
array with a shape. They are copied to the backend's device. Types that C<pack> does not
know are made from F32; see C<quantize>.

=cut

sub new {
    my ($class, $numbers, $backend, %options) = @_;
    my $proxy = _backend($backend);
    my $dtype = delete $options{dtype} // 'f32';
    my $shape = delete $options{shape} // _shape($numbers);
    refuse("there is no option '$_', but dtype, shape") for sort keys %options;
    my $wanted = dtype_number($dtype);
    my $stored = $packed{ lc $dtype } ? lc $dtype : 'f32';
    my @flat   = _flat($numbers);
    defined && looks_like_number($_)
        or refuse('numbers must be numbers, not ' . (defined ? "'$_'" : 'undef'))
        for @flat;
    my $made = Runcible::Native::tensor_from_data($proxy, dtype_number($stored), $shape,
        pack $packed{$stored}, @flat);
    $made = Runcible::Native::op_quantize($made, $wanted)
        if $wanted != dtype_number($stored);
    return $class->of($made);
}

sub _flat { map { ref $_ eq 'ARRAY' ? _flat($_) : $_ } @{ $_[0] } }

sub _shape {
    my ($numbers) = @_;
    ref $numbers eq 'ARRAY'
        or refuse('numbers must be a reference to an array, not '
            . ($numbers // 'undef'));
    my @sizes = map { ref $_ eq 'ARRAY' ? join ' ', @{ _shape($_) } : '' } @$numbers;
    refuse('the arrays within numbers differ in their sizes')
        if grep { $_ ne $sizes[0] } @sizes;
    return [scalar @$numbers, @sizes ? split ' ', $sizes[0] : ()];
}

=head2 from_bytes(bytes, shape, dtype, backend)

=for header rc_tensor_from_data

The bytes are a string, or a reference to a variable that was borrowed or that
Runcible::Pinned shows.

=cut

sub from_bytes {
    my ($class, $bytes, $shape, $dtype, $backend) = @_;
    return $class->of(Runcible::Native::tensor_of_lent(
        _backend($backend), dtype_number($dtype), $shape, $bytes)) if ref $bytes;
    return $class->of(Runcible::Native::tensor_from_data(
        _backend($backend), dtype_number($dtype), $shape, $bytes));
}

=head2 borrow(bytes, shape, dtype, backend)

Makes a tensor of the memory of a variable, which is not copied and is kept as long as
the library needs it: a reference to a string of bytes, C<\$bytes>, as C<pack> makes
them. The variable is read-only from then on, as Perl would give it other memory. Ops
that go into the tensor change the variable. Throws Runcible::Error::Unsupported for a
device with separate memory.

=cut

sub borrow {
    my ($class, $bytes, $shape, $dtype, $backend) = @_;
    return $class->of(Runcible::Native::tensor_borrow(
        _backend($backend), dtype_number($dtype), $shape, $bytes));
}

# :api: makers

=head2 dtype

The type of the elements: "f32", "q4_k".

=head2 shape

A reference to an array of the dimensions, slowest first.

=head2 size

The number of elements.

=head2 bytes

The size of the numbers in bytes, in their type.

=head2 device

=for header rc_tensor_device

=head2 to(device, backend)

Both arguments are optional.

=for header rc_tensor_to

=head2 choice

=for header rc_op_choose

=head2 read

Returns the numbers as in memory, a string of bytes.

=for header rc_tensor_read

=head2 read_into(bytes)

Writes the same to the memory of a variable that was borrowed or that Runcible::Pinned
shows; takes a reference to the variable.

=head2 array

Returns the numbers in arrays nested like the shape. Types that C<unpack> does not know
are decoded to F32.

=cut

sub dtype { my ($self) = @_; dtype_name(Runcible::Native::tensor_dtype($self->proxy)) }
sub shape { Runcible::Native::tensor_shape($_[0]->proxy) }
sub size  { (Runcible::Native::tensor_size($_[0]->proxy))[0] }
sub bytes { (Runcible::Native::tensor_size($_[0]->proxy))[1] }
sub read  { my ($self) = @_; Runcible::Native::tensor_read($self->proxy, $self->bytes) }

sub read_into {
    my ($self, $bytes) = @_;
    Runcible::Native::tensor_read_into($self->proxy, $bytes);
    return $bytes;
}

sub device { Runcible::Native::tensor_device($_[0]->proxy) }
sub choice { my ($self) = @_; $self->_json(Runcible::Native::op_choose($self->proxy)) }

sub to {
    my ($self, $device, $backend) = @_;
    return (ref $self)->of(Runcible::Native::tensor_to($self->proxy,
        defined $backend ? _backend($backend) : undef, $device // ''));
}

sub array {
    my ($self) = @_;
    my $format = $packed{ $self->dtype } or return $self->dequantize->array;
    my @numbers = unpack $format, $self->read;
    return _nested(\@numbers, @{ $self->shape });
}

sub _nested {
    my ($numbers, $size, @inner) = @_;
    return $numbers unless @inner;
    my $count = List::Util::product(@inner);
    return [map { _nested([@$numbers[$_ * $count .. ($_ + 1) * $count - 1]], @inner) }
            0 .. $size - 1];
}

sub _made {
    my ($self, $function, @arguments) = @_;
    return (ref $self)->of(
        Runcible::Native->can($function)->($self->proxy, @arguments));
}
sub _operand  { proxy_of($_[0], 'Runcible::Tensor', 'the operand') }
sub _optional { optional_proxy_of($_[0], 'Runcible::Tensor', 'the operand') }

=head1 VIEWS AND OPS

# :api: ops

1;
