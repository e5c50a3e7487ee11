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

subtest 'opening with a tenant' => sub {
    my $name    = "Zo\xeb";
    my $tenant  = Runcible::Tenant->new(name => $name);
    my $backend = Runcible::Backend->open_async('cpu', tenant => $tenant)->get;
    is($tenant->usage->backends, 1, 'the backend is of the tenant');
    is($tenant->metrics->{tenants}[0]{name}, $name, 'the name');
    $backend->close;
    is($tenant->usage->backends, 0, 'none is left');
};

subtest 'failures' => sub {
    my $opening = Runcible::Backend->open_async('nosuch');
    $opening->await;
    isa_ok($opening->failure, 'Runcible::Error::NotFound');
    like($opening->failure, qr/nosuch.*at .*opening\.t line \d+\.$/s, 'the message names the place');
    my $ended = Runcible::Backend->open_async('cpu', progress => sub { die "enough\n" });
    $ended->await;
    is($ended->failure, "enough\n", 'of the function');
    for my $wrong ([threads => -1], [nothing => 1], [progress => 1], [tenant => 'acme']) {
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

subtest 'switching' => sub {
    my $backend = Runcible::Backend->new('cpu');
    my $model   = Runcible::Model->new('builtin:fable', $backend);
    ok(!eval { $backend->switch('cpu', threads => 1); 1 }, 'no such option');
    isa_ok($@, 'Runcible::Error::InvalidArgument');
    my @fractions;
    my @made = $backend->switch_async('reference',
        progress => sub { push @fractions, @_ })->get;
    is_deeply([scalar @made, $fractions[-1]], [0, 1], 'it is done');
    is($model->report->device, 'reference:0', 'the device of the model');
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
