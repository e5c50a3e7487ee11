package Runcible::Mailbox;

# Receives the events of all requests of one IO::Async loop. The loop watches a
# descriptor while there are requests.
use strict;
use warnings;
use Hash::Util::FieldHash 'fieldhash';
use Scalar::Util 'weaken';
use Runcible::Error;
use Runcible::Native;

# The most events of one turn of the loop; the descriptor stays readable while
# more wait.
use constant TURN => 32;

fieldhash my %mailboxes;    # by loops

# Returns the mailbox of a loop.
sub of {
    my ($class, $loop) = @_;
    return $mailboxes{$loop} //= $class->new($loop);
}

sub new {
    my ($class, $loop) = @_;
    my $box = Runcible::Native::mailbox_create();
    # The handle may close this duplicate of the descriptor.
    open my $handle, '<&', Runcible::Native::mailbox_descriptor($box)
        or Runcible::Error::IO->throw("no descriptor for an event loop: $!");
    my $self
        = bless { box => $box, handle => $handle, loop => $loop, channels => {} },
        $class;
    weaken $self->{loop};
    return $self;
}

# Starts a request that posts to a channel; `begin` receives the mailbox and a key.
sub start {
    my ($self, $begin, $channel) = @_;
    my $key     = ++$self->{last_key};
    my $request = $begin->($self->{box}, $key);
    if (!%{ $self->{channels} }) {
        weaken(my $weak = $self);
        $self->{loop}->watch_io(
            handle        => $self->{handle},
            on_read_ready => sub { $weak->_take },
        );
    }
    $self->{channels}{$key} = $channel;
    return $request;
}

sub _take {
    my ($self) = @_;
    my $channels = $self->{channels};
    my @woken;
    my $failure;
    if (my $events = eval { Runcible::Native::mailbox_take_some($self->{box}, TURN) }) {
        for my $event (@$events) {
            my $key     = $event->[0];
            my $channel = $channels->{$key};
            $channel->post($event);
            push @woken, $channel;
            delete $channels->{$key} if $channel->{ended};
        }
    }
    else {
        # Events were lost, so all streams are incomplete.
        $failure = $@;
        @woken   = values %$channels;
        $_->break($failure) for @woken;
        %$channels = ();
    }
    $self->{loop}->unwatch_io(handle => $self->{handle}, on_read_ready => 1)
        if !%$channels;
    # Wakes all channels, even if one of them throws; throws its exception last.
    for my $channel (@woken) {
        eval { $channel->wake; 1 } or $failure //= $@;
    }
    die $failure if defined $failure;
    return;
}

1;
