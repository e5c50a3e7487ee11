package Runcible::Stream;

use strict;
use warnings;
use Future;
use Future::Utils 'repeat';
use IO::Async::Loop;
use Runcible::Channel;
use Runcible::Error;
use Runcible::Mailbox;
use Runcible::Native;

=head1 NAME

Runcible::Stream - the pieces of a text as they come, on an IO::Async event loop

=head1 SYNOPSIS

    use Future::AsyncAwait;
    my $stream = $session->stream('Once upon a time');
    while (my $piece = await $stream->next) { print $piece }

    print $session->stream('And then')->text->get;

=head1 DESCRIPTION

A descriptor notifies the event loop that text has come; no thread of the library
ever runs Perl. An end without success fails the future after that of the last piece,
with an exception of Runcible::Error. Dropping the last reference to a stream cancels
it.

=head2 next

Returns a Future of the next L<Runcible::Piece>, or of undef after the last. Only one
may be pending; cancelling it cancels the generation.

=cut

sub _start {
    my ($class, $loop, $begin) = @_;
    $loop //= IO::Async::Loop->new;
    my $mailbox = Runcible::Mailbox->of($loop);
    # The mailbox refers to the channel and not to the stream, so that a stream can
    # be destroyed.
    my $channel = Runcible::Channel->new;
    my $request = $mailbox->start($begin, $channel);
    return bless { loop => $loop, channel => $channel, request => $request }, $class;
}

sub next {
    my ($self) = @_;
    my $channel = $self->{channel};
    Runcible::Error::Busy->throw('a piece of this stream is waited for already')
        if $channel->{waiting};
    my $future = $channel->{waiting} = $self->{loop}->new_future;
    $channel->{where} = Runcible::Error->where;
    # The future holds the stream.
    $future->on_cancel(sub { $self->_leave });
    $channel->wake;
    return $future;
}

=head2 text

Returns a Future of the rest, as a string.

=cut

sub text {
    my ($self) = @_;
    my $text = '';
    my $ended;
    my $all = repeat {
        $self->next->on_done(sub { defined $_[0] ? $text .= $_[0] : $ended++ });
    }
    while => sub { !$ended && $_[0]->is_done };
    return $all->then(sub { Future->done($text) });
}

=head2 report

How it ended, a Runcible::Report::Generation; undef before the end.

=head2 cancel

Asks the generation to end: the future after that of the last piece fails with
Runcible::Error::Cancelled.

=head2 close

Cancels, and returns a Future of the end. Drops the pieces not yet read.

=cut

sub report { $_[0]{channel}{report} }

sub cancel {
    my ($self) = @_;
    Runcible::Native::request_cancel($self->{request});
    return;
}

sub close {
    my ($self) = @_;
    my $channel = $self->{channel};
    my $future  = $self->{loop}->new_future;
    return $future->done if $channel->{ended};
    push @{ $channel->{closing} }, $future;
    $self->_leave;
    return $future;
}

# Drops the channel's events and cancels.
sub _leave {
    my ($self) = @_;
    $self->{channel}->leave;
    $self->cancel unless $self->{channel}{ended};
    return;
}

sub DESTROY {
    my ($self) = @_;
    return if ${^GLOBAL_PHASE} eq 'DESTRUCT' || !$self->{channel};
    # The child of a fork, or a thread that has a copy, cannot cancel it.
    local $@;
    eval { $self->_leave };
    return;
}

1;
