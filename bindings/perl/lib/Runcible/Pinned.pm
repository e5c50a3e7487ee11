package Runcible::Pinned;

use strict;
use warnings;
use parent 'Runcible::Handle';
use Runcible::Arguments qw(proxy_of refuse);
use Runcible::Backend;

=head1 NAME

Runcible::Pinned - memory that a device moves numbers from and to by itself

=head1 SYNOPSIS

    my $memory = Runcible::Pinned->new($backend, 12);
    $memory->write(pack 'f*', 1, 2, 3);
    my $x = Runcible::Tensor->from_bytes($memory->bytes, [3], 'f32', $backend);
    $x->neg->read_into($memory->bytes);
    my @numbers = unpack 'f*', ${ $memory->bytes };

=head1 DESCRIPTION

Nothing is copied in between. The memory counts within the backend's memory_limit,
and is there until this is closed or destroyed, and what C<bytes> gave and the tensors
that were borrowed of it are gone.

=head2 new(backend, size, device)

Room for so many bytes, at least 1, which are zero at first; the device is one of the
backend's, and may be left out: where its new tensors lie. The exception
Runcible::Error::Unsupported: the device has no such memory, as those of webgpu.

=head2 size

How many bytes there are.

=head2 bytes

A reference to a variable that shows the memory. Perl cannot change it, for it would
give it other memory; C<write> does.

=head2 write(bytes, first)

Writes a string of bytes from that byte on; C<first> is 0 if it is left out.

=cut

sub new {
    my ($class, $backend, $size, $device) = @_;
    my $proxy = proxy_of($backend, 'Runcible::Backend', 'backend');
    defined $size && $size =~ /\A[0-9]+\z/ && $size > 0
        or refuse('size must be a whole number, at least 1, not ' . ($size // 'undef'));
    # Strings of Perl have a zero at their end, which is none of their bytes.
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
