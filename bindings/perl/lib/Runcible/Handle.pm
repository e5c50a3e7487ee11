package Runcible::Handle;

use strict;
use warnings;
use JSON::PP ();
use Runcible::Error;
use Runcible::Native;

=head1 NAME

Runcible::Handle - the base of backends, models, sessions, tokenizers and tensors

=head1 DESCRIPTION

Owns a handle of the library until it is closed or destroyed, in any order: an object
keeps the handles that it needs. New threads of Perl share backends, models, tokenizers
and tensors; a session belongs to the thread that made it.

=head2 close

Releases the handle; using it then throws Runcible::Error::Closed.

=head2 closed

Returns whether it was closed.

=cut

sub of {
    my ($class, $proxy, %more) = @_;
    return bless { %more, proxy => $proxy }, $class;
}

sub close {
    my ($self) = @_;
    my $proxy = delete $self->{proxy};
    Runcible::Native::drop($proxy) if $proxy;
    return;
}

sub closed { !$_[0]{proxy} }

# Returns the proxy of the handle, for the other modules here.
sub proxy {
    my ($self) = @_;
    return $self->{proxy}
        // Runcible::Error::Closed->throw('this ' . ref($self) . ' is closed');
}

# Decodes JSON of the library.
sub _json { JSON::PP->new->decode($_[1]) }

1;
