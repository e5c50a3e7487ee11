package Runcible::Pending;

# A call that an IO::Async event loop waits for, and its result; a channel of a
# mailbox.
use strict;
use warnings;
use IO::Async::Loop;
use Scalar::Util 'weaken';
use Runcible::Arguments 'refuse';
use Runcible::Error;
use Runcible::Mailbox;
use Runcible::Native;

# How often the progress of the call is reported, in seconds.
use constant REPORT_INTERVAL => 0.05;

# Returns a Future of the result of a call. `begin` starts the call with a mailbox and a
# key; `result` makes the result of the call. Cancelling the future cancels the call.
sub future {
    my ($class, $options, $begin, $result) = @_;
    my ($loop, $progress) = delete @$options{qw(loop progress)};
    refuse("there is no option '$_'") for sort keys %$options;
    !defined $progress || ref $progress eq 'CODE'
        or refuse("progress must be a function, not $progress");
    $loop //= IO::Async::Loop->new;
    my $self = bless {
        loop     => $loop,
        progress => $progress,
        result   => $result,
        where    => Runcible::Error->where,
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
    $self->{timer} = $self->{loop}->watch_time(after => REPORT_INTERVAL, code => sub {
        return unless $weak;
        $weak->_report;
        $weak->_watch;
    });
    return;
}

sub _report {
    my ($self) = @_;
    return if !$self->{progress} || defined $self->{error};
    my $done = Runcible::Native::pending_call_fraction($self->{call});
    return if eval { $self->{progress}->($done); 1 };
    $self->{error} = $@;
    $self->_cancel;
    return;
}

sub _cancel {
    my ($self) = @_;
    Runcible::Native::pending_call_cancel($self->{call}) unless $self->{ended};
    return;
}

# The methods of a channel: post keeps the end, break reports lost events, wake completes
# the future.
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
    $self->_report if defined $self->{status} && $self->{status} == $Runcible::Native::OK;
    die $self->{error} if defined $self->{error};
    if ($self->{status} != $Runcible::Native::OK) {
        my $error = Runcible::Error->of_status(@$self{qw(status message)});
        # The place where it was begun, not one within the event loop.
        $error->{where} = $self->{where};
        die $error;
    }
    return $self->{result}->($self->{call});
}

1;
