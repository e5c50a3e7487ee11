package Runcible::Pinned;

use strict;
use warnings;
use parent 'Runcible::Handle';
use Runcible::Arguments qw(proxy_of refuse);
use Runcible::Backend;

=head1 NAME

Runcible::Pinned - memory that a device copies from and to directly

=head1 SYNOPSIS

    my $memory = Runcible::Pinned->new($backend, 12);
    $memory->write(pack 'f*', 1, 2, 3);
    my $x = Runcible::Tensor->from_bytes($memory->bytes, [3], 'f32', $backend);
    $x->neg->read_into($memory->bytes);
    my @numbers = unpack 'f*', ${ $memory->bytes };

=head1 DESCRIPTION

There is no copy in between. The memory counts within the backend's memory_limit. It is
released when this object is closed or destroyed and there are no references from
C<bytes> and no tensors that borrow it.

=head2 new(backend, size, device)

Allocates C<size> bytes, at least 1, which are zero at first. The device is one of the
backend's; by default the device of its new tensors. Throws Runcible::Error::Unsupported
if the device has no such memory, for example a device of webgpu.

=head2 size

The number of bytes.

=head2 bytes

Returns a reference to a variable that shows the memory. Perl cannot change the variable,
as it would give it other memory; C<write> changes the memory.

=head2 write(bytes, first)

Writes a string of bytes, from byte C<first> on, by default 0.

=cut

sub new {
    my ($class, $backend, $size, $device) = @_;
    my $proxy = proxy_of($backend, 'Runcible::Backend', 'backend');
    defined $size && $size =~ /\A[0-9]+\z/ && $size > 0
        or refuse('size must be a whole number, at least 1, not ' . ($size // 'undef'));
    # Strings of Perl have a zero byte after their bytes.
    my $made = Runcible::Native::pinned_make($proxy, $device // '', $size + 1);
    return $class->of($made, bytes => Runcible::Native::pinned_show($made));
}

sub size { length ${ $_[0]->bytes } }

sub bytes {
    my ($self) = @_;
    $self->proxy;
    return $self->{bytes};
}

sub write {
    my ($self, $bytes, $first) = @_;
    Runcible::Native::lent_write($self->bytes, $first // 0, $bytes);
    return;
}

sub close {
    my ($self) = @_;
    delete $self->{bytes};
    return $self->SUPER::close;
}

1;
