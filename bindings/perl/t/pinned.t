# Memory that devices copy from and to directly.
use strict;
use warnings;
use Config;
use POSIX ();
use Test::More;
use Runcible;

my $backend = Runcible::Backend->new('cpu');

sub fails {
    my ($class, $says, $wrong) = @_;
    my $lived = eval { $wrong->(); 1 };
    ok(!$lived && ref $@ eq "Runcible::Error::$class", $class) or diag $@;
    like("$@", $says, 'its message');
}

for my $spec (qw(cpu reference opencl vulkan)) {
    subtest "numbers go to $spec and back" => sub {
        my $device = eval { Runcible::Backend->new($spec) }
            or plan skip_all => "this machine has no $spec";
        my $from = Runcible::Pinned->new($device, 400);
        my $to   = Runcible::Pinned->new($device, 408);
        is($to->size, 408, 'its size');
        is(${ $to->bytes }, "\0" x 408, 'zero at first');
        $from->write(pack('f', $_), 4 * $_) for 0 .. 99;
        my $x = Runcible::Tensor->from_bytes($from->bytes, [10, 10], 'f32', $device);
        $from->write("\0" x 400);    # does not change the tensor, a copy
        my $bytes = $x->neg->read_into($to->bytes);
        is_deeply([unpack 'f*', $$bytes], [(map { -$_ } 0 .. 99), 0, 0], 'the numbers');
        $_->close for $from, $to;
    };
}

subtest 'memory is kept' => sub {
    my $memory = Runcible::Pinned->new($backend, 12, 'cpu');
    my $x = Runcible::Tensor->borrow($memory->bytes, [3], 'f32', $backend);
    $memory->write(pack 'f*', 1, -2, 3);
    my $bytes = $memory->bytes;
    $_->close for $x, $memory;
    is_deeply([unpack 'f*', $$bytes], [1, -2, 3], 'by what shows it');
};

subtest 'threads of Perl' => sub {
    plan skip_all => 'this Perl has none' unless $Config{useithreads};
    require threads;
    my $memory = Runcible::Pinned->new($backend, 8);
    my $thread = threads->create(sub {
        $memory->write(pack 'f*', 5, 6);
        $memory->close;
        return 1;
    });
    ok($thread->join, 'write it');
    is_deeply([unpack 'f*', ${ $memory->bytes }], [5, 6], 'and leave it');
};

subtest 'the child of a fork' => sub {
    my $memory = Runcible::Pinned->new($backend, 8);
    my $bytes  = $memory->bytes;
    defined(my $child = fork) or die $!;
    if ($child == 0) {
        undef $memory;
        undef $bytes;
        POSIX::_exit(7);
    }
    waitpid $child, 0;
    is($? >> 8, 7, 'leaves it to the parent');
    is(length $$bytes, 8, 'which has it');
};

subtest 'errors name their reason' => sub {
    fails('InvalidArgument', qr/at least 1/, sub { Runcible::Pinned->new($backend, $_) })
        for -1, 1.5, undef;
    my $memory = Runcible::Pinned->new($backend, 8);
    my $bytes  = $memory->bytes;
    ok(!eval { $$bytes = 'other'; 1 }, 'Perl cannot change it');
    for my $wrong (['12345', 4], ['', 9], ['1', -1], ['1', 2**62]) {
        fails('InvalidArgument', qr/not within the 8/, sub { $memory->write(@$wrong) });
    }
    fails('InvalidArgument', qr/no bytes/, sub { $memory->write("\x{100}") });
    my $x = Runcible::Tensor->new([1, 2, 3], $backend);
    fails('InvalidArgument', qr/12/, sub { $x->read_into($bytes) });
    my $other = 'text';
    fails('InvalidArgument', qr/was borrowed or is pinned/, sub { $x->read_into(\$other) });
    fails('InvalidArgument', qr/was borrowed or is pinned/,
        sub { Runcible::Tensor->from_bytes(\$other, [1], 'f32', $backend) });
    $memory->close;
    fails('Closed', qr/closed/, $_)
        for sub { $memory->bytes }, sub { $memory->size }, sub { $memory->write('1') };
    is($$bytes, "\0" x 8, 'a reference keeps the memory');
};

done_testing;
