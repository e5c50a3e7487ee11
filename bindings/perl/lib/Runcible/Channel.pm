package Runcible::Channel;

# The events of one request of an event loop that were not yet read.
use strict;
use warnings;
use Runcible::End;
use Runcible::Piece;

sub new { bless { pieces => [], closing => [] }, $_[0] }

# Keeps an event; wake reports it.
sub post {
    my ($self, $event) = @_;
    if (!defined $event->[1]) {
        $self->{ended} = 1;
        @$self{qw(report error)} = Runcible::End->of_event($event);
    }
    elsif (!$self->{left}) {
        push @{ $self->{pieces} }, Runcible::Piece->part_of($event);
    }
    return;
}

# Ends the channel when events were lost.
sub break {
    my ($self, $error) = @_;
    @$self{qw(ended error)} = (1, $error);
    return;
}

# Drops all events, as the reader is gone.
sub leave {
    my ($self) = @_;
    $self->{left}   = 1;
    $self->{pieces} = [];
    delete @$self{qw(waiting error)};
    return;
}

# Completes the futures that wait, if there is something to report.
sub wake {
    my ($self) = @_;
    if ($self->{ended}) {
        delete $self->{error} if $self->{left};
        $_->is_ready || $_->done for splice @{ $self->{closing} };
    }
    return unless @{ $self->{pieces} } || $self->{ended};
    my $waiting = delete $self->{waiting} or return;
    my $piece   = shift @{ $self->{pieces} };
    my $error   = $piece ? undef : delete $self->{error};
    return $waiting->done($piece) unless $error;
    # The place where the piece was requested, not one within the event loop.
    $error->{where} = $self->{where};
    $waiting->fail($error);
    return;
}

1;
