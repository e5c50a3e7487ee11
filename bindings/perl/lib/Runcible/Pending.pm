package Runcible::Pending;

# A call that an IO::Async event loop waits for: what came of it, as the channel of
# a mailbox.
use strict;
use warnings;
use IO::Async::Loop;
use Scalar::Util 'weaken';
use Runcible::Arguments 'refuse';
use Runcible::Error;
use Runcible::Mailbox;
use Runcible::Native;

# How often a function is told how far the call is, in seconds.
use constant TELL => 0.05;

# A Future of what `result` makes of the call that `begin` starts, with a mailbox and
# a key. Cancelling it cancels the call.
sub future {
    my ($class, $options, $begin, $result) = @_;
    my ($loop, $progress) = delete @$options{qw(loop progress)};
    refuse("there is no option '$_'") for sort keys %$options;
    !defined $progress || ref $progress eq 'CODE'
        or refuse("progress must be a function, not $progress");
    $loop //= IO::Async::Loop->new;
    my $self = bless {
        loop   => $loop,
        tell   => $progress,
        result => $result,
        where  => Runcible::Error->where,
    }, $class;
    $self->{call} = Runcible::Mailbox->of($loop)->start($begin, $self);
    my $future = $self->{future} = $loop->new_future;
    weaken(my $weak = $self);
    $future->on_cancel(sub { $weak->_cancel if $weak });
    $self->_watch if $progress;
    return $future;
}

sub _watch {
    my ($self) = @_;
    weaken(my $weak = $self);
    $self->{timer} = $self->{loop}->watch_time(after => TELL, code => sub {
        return unless $weak;
        $weak->_tell;
        $weak->_watch;
    });
    return;
}

sub _tell {
    my ($self) = @_;
    return if !$self->{tell} || defined $self->{error};
    my $done = Runcible::Native::pending_call_fraction($self->{call});
    return if eval { $self->{tell}->($done); 1 };
    $self->{error} = $@;
    $self->_cancel;
    return;
}

sub _cancel {
    my ($self) = @_;
    Runcible::Native::pending_call_cancel($self->{call}) unless $self->{ended};
    return;
}

# As of a channel: keeps the end; no more can come; answers who waits.
sub post {
    my ($self, $event) = @_;
    @$self{qw(ended status message)} = (1, @$event[2, 3]);
    return;
}

sub break {
    my ($self, $error) = @_;
    $self->{ended} = 1;
    $self->{error} //= $error;
    return;
}

sub wake {
    my ($self) = @_;
    $self->{loop}->unwatch_time(delete $self->{timer}) if $self->{timer};
    my $future = delete $self->{future};
    return if !$future || $future->is_ready;
    my @made;
    return $future->done(@made) if eval { @made = $self->_made; 1 };
    return $future->fail($@);
}

sub _made {
    my ($self) = @_;
    $self->_tell if defined $self->{status} && $self->{status} == $Runcible::Native::OK;
    die $self->{error} if defined $self->{error};
    if ($self->{status} != $Runcible::Native::OK) {
        my $error = Runcible::Error->of_status(@$self{qw(status message)});
        # Where it was begun, and not within the event loop.
        $error->{where} = $self->{where};
        die $error;
    }
    return $self->{result}->($self->{call});
}

1;
