# Graphs: recording and running, also on an event loop.
use strict;
use warnings;
use Future;
use IO::Async::Loop;
use Runcible;
use Test::More;

my $backend = Runcible::Backend->new('cpu');
sub tensor { Runcible::Tensor->new([@_], $backend) }

sub error_of {
    my ($code) = @_;
    return eval { $code->(); 1 } ? undef : $@;
}

subtest 'errors' => sub {
    my ($x, $y) = (tensor(1, 2), tensor(1, 2, 3));
    my $error = error_of(sub {
        Runcible::Graph->record($backend, [$x], sub { $_[0]->add($y) });
    });
    isa_ok($error, 'Runcible::Error::InvalidArgument');
    like("$error", qr/\[3\].*graph\.t line/s, 'the message names shapes and place');
    like(error_of(sub { Runcible::Graph->record($backend, [$x], sub { die "mine\n" }) }),
        qr/^mine$/, 'of the function');
    like(error_of(sub { Runcible::Graph->record($backend, [$x], sub {1}) }),
        qr/an output must be a Runcible::Tensor/, 'no tensor');
    like(error_of(sub { Runcible::Graph->record($backend, $x, sub {1}) }),
        qr/reference to an array/, 'no array');
    my $graph = Runcible::Graph->record($backend, [$x], sub { $_[0]->neg });
    like(error_of(sub { $graph->run([$x], dead => 1) }), qr/no option 'dead'/, 'no option');
};

subtest 'cancelling a run' => sub {
    my $endless = Runcible::CustomOp->new(
        name      => 'endless',
        signature => 'x F32 [n] -> y F32 [n]',
        library   => $ENV{RUNCIBLE_CUSTOM_OP},
    );
    my $x     = tensor(1, 2);
    my $graph = Runcible::Graph->record($backend, [$x], sub { $endless->compute([@_]) });
    my $run = $graph->run_async([$x]);
    $graph->cancel;
    $run->await;
    isa_ok($run->failure, 'Runcible::Error::Cancelled');
    my $given_up = $graph->run_async([$x]);
    $given_up->cancel;
    # The loop ends the cancelled run before long.
    my %messages = (0.0012 => qr/ 2 ms/, 0.007 => qr/ 7 ms/);
    for my $deadline (sort keys %messages) {
        my $next = $graph->run_async([$x], deadline => $deadline);
        $next->await;
        isa_ok($next->failure, 'Runcible::Error::Timeout');
        like($next->failure, $messages{$deadline}, 'no limit ends before its time');
    }
};

done_testing;
