# Streams on an IO::Async event loop.
use strict;
use warnings;
use Future;
use IO::Async::Loop;
use IO::Async::Timer::Periodic;
use Runcible;
use Test::More;

my $model   = Runcible::Model->new('builtin:fable', 'cpu');
my $loop    = IO::Async::Loop->new;
my %endless = (ignore_eos => 1);
sub endless { $model->session(when_full => 'shift')->stream('A', %endless) }

# Returns a Future that reads a stream to its end, and calls a function with each piece.
sub each_piece {
    my ($stream, $code) = @_;
    return $stream->next->then(sub {
        my ($piece) = @_;
        return Future->done unless $piece;
        $code->($piece);
        return each_piece($stream, $code);
    });
}

subtest 'streams take turns' => sub {
    my @streams = map { endless() } 0 .. 3;
    my @pieces  = (0) x 4;
    my @all     = map {
        my $i = $_;
        each_piece($streams[$i], sub {
            ++$pieces[$i];
            $_->cancel for grep { !grep { $_ < 5 } @pieces } @streams;
        })->else(sub { Future->done($_[0]) });
    } 0 .. 3;
    # Ends only if no stream keeps the others from their pieces.
    isa_ok($_->get, 'Runcible::Error::Cancelled') for @all;
};

subtest 'the loop goes on' => sub {
    my $ticks  = 0;
    my $stream = endless();
    my $timer;
    $timer = IO::Async::Timer::Periodic->new(
        interval => 0.001,
        on_tick  => sub { $stream->cancel if ++$ticks == 5 },
    );
    $loop->add($timer->start);
    my $ended = each_piece($stream, sub { })->else(sub { Future->done($_[0]) })->get;
    $loop->remove($timer);
    isa_ok($ended, 'Runcible::Error::Cancelled');
    like("$ended", qr/cancelled at .*stream\.t line \d+\.$/, 'the message names the place');
    cmp_ok($ticks, '>=', 5, 'the timer ticked');
};

subtest 'cancelling a future' => sub {
    my $stream = endless();
    $stream->next->get;
    $stream->next->cancel;
    $stream->close->get;
    is($stream->report->reason, 'cancelled', 'the reason');
    my $text = endless()->text;
    my $winner = Future->wait_any($text, $loop->delay_future(after => 0.02)->then_done('late'))->get;
    is($winner, 'late', 'a timeout wins');
    ok($text->is_cancelled, 'the text is cancelled');
};

subtest 'closing and losing' => sub {
    my $session = $model->session(when_full => 'shift');
    my $stream  = $session->stream('A', %endless);
    ok($stream->next->get, 'a piece');
    $stream->close->get;
    ok($session->append('B'), 'not busy any more');
    is($stream->next->get, undef, 'no piece is left');
    {
        my $lost = $session->stream('A', %endless);
        $lost->next->get;
    }
    my $deadline = time + 60;
    until (eval { $session->append('C') }) {
        $@->isa('Runcible::Error::Busy') or die $@;
        die 'still busy' if time > $deadline;
        $loop->loop_once(0.01);
    }
    pass('a lost stream ends');
};

subtest 'only one may wait' => sub {
    my $stream = endless();
    my $first  = $stream->next;
    eval { $stream->next };
    isa_ok($@, 'Runcible::Error::Busy');
    ok($first->get, 'the first gets its piece');
};

subtest 'an exception of a callback' => sub {
    my @streams = map { $model->session->stream('A', max_tokens => 5, %endless) } 0 .. 1;
    my @bad  = map { $_->next->on_done(sub { die "mine\n" }) } $streams[0];
    my $good = $streams[1]->text;
    my $died = '';
    until ($good->is_ready) {
        eval { $loop->loop_once(1); 1 } or $died .= $@;
    }
    like($died, qr/^mine$/m, 'comes out of the loop');
    ok(length $good->get, 'the other stream is whole');
};

subtest 'many at once' => sub {
    my @texts = Future->needs_all(map {
        $model->session(context_length => 32)->stream('A', seed => $_, max_tokens => 3)->text
    } 1 .. 100)->get;
    is(scalar @texts, 100, 'texts');
};

subtest 'long texts do not pile up' => sub {
    my $text = $model->session(when_full => 'shift')
        ->stream('A', max_tokens => 2000, %endless)->text->get;
    ok(length $text, 'text');
};

subtest 'a separate loop' => sub {
    my $other = IO::Async::Loop->really_new;
    my $text  = $model->session->stream('A', loop => $other, seed => 1, max_tokens => 5)->text;
    $other->await($text);
    is($text->get, $model->session->generate('A', seed => 1, max_tokens => 5)->text, 'the text');
};

subtest 'with async and await' => sub {
    eval { require Future::AsyncAwait; 1 } or plan skip_all => 'no Future::AsyncAwait';
    my $text = eval q{
        use Future::AsyncAwait;
        my $generate = async sub {
            my $stream = $model->session->stream('A', seed => 1, max_tokens => 5);
            my $text = '';
            while (my $piece = await $stream->next) { $text .= $piece }
            return $text;
        };
        $generate->()->get;
    };
    is($text, $model->session->generate('A', seed => 1, max_tokens => 5)->text, 'the text')
        or diag $@;
};

done_testing;
