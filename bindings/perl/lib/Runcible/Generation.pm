package Runcible::Generation;

use strict;
use warnings;
use overload
    '<>'   => sub { wantarray ? $_[0]->pieces : $_[0]->next },
    '&{}'  => sub { my ($self) = @_; return sub { $self->next } },
    'bool' => sub {1},
    fallback => 1;
use Runcible::End;
use Runcible::Native;
use Runcible::Piece;

=head1 NAME

Runcible::Generation - the pieces of a text as they come

=head1 SYNOPSIS

    my $generation = $session->generate('Once upon a time');
    while (my $piece = <$generation>) { print $piece }

    my $next = $session->generate('And then');    # as a function
    while (my $piece = $next->()) { print $piece }

    print $session->generate('Finally')->text;

=head1 DESCRIPTION

Waiting for a piece blocks; handlers of signals run meanwhile, and may die, which
ends the generation. An end without success is thrown after the last piece:
Runcible::Error::Deadline, Cancelled, ... Closing a generation or dropping the last
reference to it cancels it and waits for its end, so that the session can be used at
once. A generation that was read and left in another way ends when its session is used
next; reading on then throws Runcible::Error::Cancelled.

=head2 next

Returns the next L<Runcible::Piece>; undef after the last.

=cut

# How often a wait lets the handlers of signals run, in milliseconds.
use constant SIGNALS => 100;

sub _start {
    my ($class, $request) = @_;
    return bless { request => $request }, $class;
}

sub next {
    my ($self) = @_;
    $self->{read} = 1;
    while (!$self->{report}) {
        my $event = $self->_wait or next;
        return Runcible::Piece->part_of($event) if defined $event->[1];
    }
    my $error = delete $self->{error};
    die $error if $error;
    return undef;
}

# The same as _event; a handler of a signal that dies ends the generation.
sub _wait {
    my ($self) = @_;
    local $self->{waiting} = 1;
    my $event;
    return $event if eval { $event = $self->_event; 1 };
    my $died = $@;
    # An error of the library, for instance in the child of a fork, is not an end.
    if (!(ref $died && UNIVERSAL::isa($died, 'Runcible::Error'))) {
        $self->_end;
        delete $self->{error};
    }
    die $died;
}

# Returns whether it was read and left before its end.
sub _is_left {
    my ($self) = @_;
    return $self->{read} && !$self->{waiting} && !$self->{report};
}

# Cancels and waits for the end; reading on then throws its error.
sub _end {
    my ($self) = @_;
    $self->cancel;
    $self->_event until $self->{report};
    return;
}

# Returns the next event, if one comes soon; keeps an end.
sub _event {
    my ($self) = @_;
    my $event = Runcible::Native::request_next($self->{request}, SIGNALS);
    @$self{qw(report error)} = Runcible::End->of_event($event)
        if $event && !defined $event->[1];
    return $event;
}

=head2 pieces

Returns a list of the rest.

=head2 text

Returns the rest, as a string.

=cut

sub pieces {
    my ($self) = @_;
    my @pieces;
    while (my $piece = $self->next) { push @pieces, $piece }
    return @pieces;
}

sub text { join '', $_[0]->pieces }

=head2 report

How it ended, a Runcible::Report::Generation; undef before the end.

=head2 cancel

Asks the generation to end: Runcible::Error::Cancelled is thrown after the last piece.

=for header rc_request_cancel

=head2 close

Cancels and waits for the end; pieces not yet read are dropped.

=cut

sub report { $_[0]{report} }

sub cancel {
    my ($self) = @_;
    Runcible::Native::request_cancel($self->{request});
    return;
}

sub close {
    my ($self) = @_;
    $self->_end unless $self->{report};
    delete $self->{error};
    return;
}

sub DESTROY {
    my ($self) = @_;
    return if ${^GLOBAL_PHASE} eq 'DESTRUCT' || !$self->{request} || $self->{report};
    # The child of a fork, or a thread that has a copy, cannot end it.
    local ($@, $?, $!);
    eval { $self->_end };
    return;
}

1;
