# Opening and discovering on an IO::Async event loop.
use strict;
use warnings;
use IO::Async::Loop;
use IO::Async::Timer::Periodic;
use Runcible;
use Test::More;

my $loop = IO::Async::Loop->new;

subtest 'opening while a timer runs' => sub {
    my ($ticks, @fractions) = 0;
    my $timer = IO::Async::Timer::Periodic->new(
        interval => 0.001,
        on_tick  => sub { ++$ticks },
    );
    $loop->add($timer->start);
    my $opening = Runcible::Backend->open_async('cpu', threads => 1,
        progress => sub { push @fractions, @_ });
    $loop->delay_future(after => 0.02)->get;
    my $backend = $opening->get;
    $loop->remove($timer);
    isa_ok($backend, 'Runcible::Backend');
    is($backend->device->id, 'cpu:0', 'the device');
    is_deeply(Runcible::Tensor->new([1, -2], $backend)->relu->array, [1, 0], 'it computes');
    is($fractions[-1], 1, 'all is done');
    cmp_ok($ticks, '>', 0, 'the timer ticked');
};

subtest 'discovering' => sub {
    my ($devices, $automatic) = Runcible::discover_async(loop => $loop)->get;
    my ($wanted, $chosen) = Runcible::discover();
    is_deeply([map { $_->id } @$devices], [map { $_->id } @$wanted], 'the devices');
    is($automatic, $chosen, 'what is chosen');
};

subtest 'failures' => sub {
    my $opening = Runcible::Backend->open_async('nosuch');
    $opening->await;
    isa_ok($opening->failure, 'Runcible::Error::NotFound');
    like($opening->failure, qr/nosuch.*at .*opening\.t line \d+\.$/s, 'the message names the place');
    my $ended = Runcible::Backend->open_async('cpu', progress => sub { die "enough\n" });
    $ended->await;
    is($ended->failure, "enough\n", 'of the function');
    for my $wrong ([threads => -1], [nothing => 1], [progress => 1]) {
        ok(!eval { Runcible::Backend->open_async('cpu', @$wrong); 1 }, "@$wrong");
        isa_ok($@, 'Runcible::Error::InvalidArgument');
    }
};

subtest 'cancelling' => sub {
    my $opening = Runcible::Backend->open_async('cpu', progress => sub { });
    $opening->cancel;
    my $discovery = Runcible::discover_async();
    $discovery->cancel;
    ok($_->is_cancelled, 'cancelled') for $opening, $discovery;
    # Later calls on the loop still work.
    isa_ok(Runcible::Backend->open_async('cpu')->get, 'Runcible::Backend');
};

# Returns a backend whose model has a session with a text, and a check that the text goes
# on on the device to which the backend is switched.
sub begun {
    my @greedy  = (max_tokens => 8, temperature => 0, ignore_eos => 1);
    my $backend = Runcible::Backend->new('cpu');
    my @options = (context_length => 128);
    my $session = Runcible::Model->new('builtin:fable', $backend, @options)->session;
    my $there = Runcible::Model->new('builtin:fable', 'reference', @options);
    $session->generate('The fox', @greedy)->text;
    my $expected = $session->migrate($there)->generate('', @greedy)->text;
    return ($backend, sub {
        is($backend->device->id, 'reference:0', 'the device');
        is($session->generate('', @greedy)->text, $expected, 'the text goes on');
    });
}

subtest 'switching' => sub {
    my ($backend, $goes_on) = begun();
    $backend->switch('reference', wait => 60);
    $goes_on->();
    for my $wrong (['nothing', 'NotFound'], ['cpu', 'InvalidArgument', threads => 1]) {
        my ($spec, $class, @options) = @$wrong;
        ok(!eval { $backend->switch($spec, @options); 1 }, $spec);
        isa_ok($@, "Runcible::Error::$class");
    }
    is($backend->device->id, 'reference:0', 'the device stays');
    $backend->close;
    ok(!eval { $backend->switch('cpu'); 1 }, 'a closed one');
    isa_ok($@, 'Runcible::Error::Closed');
};

subtest 'switching on an event loop' => sub {
    my ($backend, $goes_on) = begun();
    my @fractions;
    my @made = $backend->switch_async('reference', wait => 60,
        progress => sub { push @fractions, @_ })->get;
    is_deeply([scalar @made, $fractions[-1]], [0, 1], 'it is done');
    $goes_on->();
    my $unknown = $backend->switch_async('nothing');
    $unknown->await;
    isa_ok($unknown->failure, 'Runcible::Error::NotFound');
    my $refused = $backend->switch_async('cpu', progress => sub { die "not now\n" });
    $refused->await;
    is($refused->failure, "not now\n", 'of the function');
};

subtest 'lost with its loop' => sub {
    my $program = 'use Runcible; Runcible::Backend->open_async("cpu", progress => sub { });'
        . 'Runcible::discover_async(); print "ends\n"';
    is(`$^X -e '$program' 2>&1`, "ends\n", 'the program ends');
    is($?, 0, 'well');
};

done_testing;
