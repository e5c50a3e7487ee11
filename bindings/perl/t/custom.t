# Custom ops: functions of C and kernels.
use strict;
use warnings;
use Config;
use Runcible;
use Test::More;

my $backend  = Runcible::Backend->new('cpu');
my @x        = (-4, -1, 0, 1, 3);
my %softsign = (
    name       => 'softsign',
    signature  => 'x F32 [...] -> y F32 [...]',
    attributes => 'scale float',
    items      => 'elements(x)',
    library    => $ENV{RUNCIBLE_CUSTOM_OP},
    opencl_c   => "size_t i = get_global_id(0);\n"
        . 'if (i < x_elements) y[i] = x[i] / (1 + fabs(x[i]) * scale);',
    grid => 'elements(x)',
);

sub tensor { Runcible::Tensor->new([@x], $_[0] // $backend) }

sub softsign {
    my ($scale, @numbers) = @_;
    return map { $_ / (1 + abs($_) * $scale) } @numbers;
}

sub near {
    my ($found, @wanted) = @_;
    my $worst = 0;
    for my $i (0 .. $#wanted) {
        my $off = abs($found->[$i] - $wanted[$i]);
        $worst = $off if $off > $worst;
    }
    is(scalar @$found, scalar @wanted, 'as many');
    cmp_ok($worst, '<', 1e-6, 'the numbers');
    return;
}

sub fails {
    my ($class, $says, $code) = @_;
    ok(!eval { $code->(); 1 }, $class);
    isa_ok($@, "Runcible::Error::$class");
    like("$@", $says, 'the message names the reason');
    return;
}

sub computes {
    my ($op) = @_;
    for my $device ('cpu', 'reference', 'opencl') {
        my $other = eval { Runcible::Backend->new($device) } or next;
        near(scalar($op->compute([tensor($other)], scale => 0.5))->array, softsign(0.5, @x));
    }
    my $graph = Runcible::Graph->record($backend, [tensor()], sub {
        my ($y) = $op->compute([$_[0] + $_[0]], scale => 2);
        return $y->relu;
    });
    near(scalar($graph->run([tensor()]))->array,
        map { $_ < 0 ? 0 : $_ } softsign(2, map { 2 * $_ } @x));
    return $graph;
}

subtest 'functions of C and kernels' => sub { computes(Runcible::CustomOp->new(%softsign)) };

subtest 'functions of Perl' => sub {
    my $seen;
    my $graph = computes(Runcible::CustomOp->new(
        %softsign,
        library => undef,
        items   => undef,
        compute => sub {
            my ($numbers, %given) = @_;
            $seen = $given{shapes};
            return [softsign($given{scale}, @$numbers)];
        }));
    is_deeply($seen, [[5], [5]], 'shapes');
    my $running = $graph->run_async([tensor()]);
    $running->await;
    isa_ok($running->failure, 'Runcible::Error::Busy');
};

subtest 'types and failures of functions of Perl' => sub {
    my $op = Runcible::CustomOp->new(
        signature => 'x I32 [m, n], w F64 [n] -> y F64 [m], z I32 [m, n]',
        compute   => sub {
            my ($given, $weights) = @_;
            die { mine => 1 } if $weights->[0] < 0;
            return [1] if $weights->[0] == 0;
            my @rows = map { [@$given[2 * $_, 2 * $_ + 1]] } 0 .. 2;
            return ([map { $_->[0] * $weights->[0] + $_->[1] * $weights->[1] } @rows],
                [map { -$_ } @$given]);
        });
    my $x = Runcible::Tensor->new([[1, 2], [3, 4], [5, 6]], $backend, dtype => 'i32');
    my $call = sub { $op->compute([$x, Runcible::Tensor->new([@_], $backend, dtype => 'f64')]) };
    is_deeply([map { $_->array } $call->(10, 0.5)],
        [[11, 32, 53], [[-1, -2], [-3, -4], [-5, -6]]], 'the numbers');
    ok(!eval { $call->(-1, 0); 1 }, 'it dies');
    is_deeply($@, { mine => 1 }, 'of what the function dies of');
    fails('Device', qr/does not have as many bytes/, sub { $call->(0, 0) });
    fails('InvalidArgument', qr/items/,
        sub { Runcible::CustomOp->new(%softsign, compute => sub { }) });
    my $program = 'use Runcible; my $op = Runcible::CustomOp->new('
        . 'signature => "x F32 [n] -> y F32 [n]", compute => sub { exit 3 });'
        . '$op->compute([Runcible::Tensor->new([1], Runcible::Backend->new("cpu"))])';
    is(system($^X, '-e', $program) >> 8, 3, 'it may exit');
};

subtest 'errors name their reason' => sub {
    my $x       = tensor();
    my $op = Runcible::CustomOp->new(%softsign);
    fails('InvalidArgument', qr/needs the attribute scale/, sub { $op->compute([$x]) });
    fails('InvalidArgument', qr/no attribute size/,
        sub { $op->compute([$x], scale => 1, size => 2) });
    fails('InvalidArgument', qr/reference to an array/, sub { $op->compute($x, scale => 1) });
    fails('InvalidArgument', qr/inputs/, sub { $op->compute([$x, $x], scale => 1) });
    for my $wrong (
        ['NotFound', qr/such/, library => '/no/such.so'],
        ['InvalidArgument', qr/signature/, signature => 'x F32 [n]'],
        ['InvalidArgument', qr/neither a function nor a kernel/,
            library => undef, opencl_c => undef],
        ['InvalidArgument', qr/no option 'nothing'/, nothing => 1],
        )
    {
        my ($class, $says, @changes) = @$wrong;
        fails($class, $says, sub { Runcible::CustomOp->new(%softsign, @changes) });
    }
    my $kernels = Runcible::CustomOp->new(%softsign, library => undef);
    fails('Unsupported', qr/no function/, sub { $kernels->compute([$x], scale => 1) });
};

subtest 'threads of Perl' => sub {
    plan skip_all => 'this Perl has none' unless $Config{useithreads};
    require threads;
    my $double = sub { [map { 2 * $_ } @{ $_[0] }] };
    my @same   = (signature => 'x F32 [n] -> y F32 [n]', compute => $double);
    my $op     = Runcible::CustomOp->new(@same);
    my $bytes  = pack 'f*', @x;
    my $x      = Runcible::Tensor->borrow(\$bytes, [5], 'f32', $backend);
    my $thread = threads->create({ context => 'list' }, sub {
        my $others = eval { $op->compute([$x]); 1 } ? 'it ran' : ref $@;
        my ($own) = Runcible::CustomOp->new(@same)->compute([$x]);
        return ($others, join(' ', unpack 'f*', $bytes), join ' ', @{ $own->array });
    });
    is_deeply([$thread->join],
        ['Runcible::Error::Busy', "@x", join ' ', map { 2 * $_ } @x], 'each runs its own');
    is_deeply(scalar($op->compute([$x]))->array, [map { 2 * $_ } @x], 'and goes on to');
};

subtest 'borrowed memory' => sub {
    my $bytes = pack 'f*', 1, -2, 3;
    my $x = Runcible::Tensor->borrow(\$bytes, [3], 'f32', $backend);
    is_deeply($x->relu->array, [1, 0, 3], 'it is read');
    Runcible::Tensor->new([4, 5, 6], $backend)->into($x)->neg;
    is_deeply([unpack 'f*', $bytes], [-4, -5, -6], 'and written');
    my $copy = $bytes;
    Runcible::Tensor->new([7, 8, 9], $backend)->into($x)->neg;
    is_deeply([unpack 'f*', $copy], [-4, -5, -6], 'a copy stays');
    ok(!eval { $bytes .= 'more'; 1 }, 'it cannot be changed');
    my $again = Runcible::Tensor->borrow(\$bytes, [3, 1], 'f32', $backend);
    $x->close;
    is_deeply($again->array, [[-7], [-8], [-9]], 'twice');
    # Constants of graphs and threads of Perl keep the memory.
    my $graph;
    for (1 .. 2) {
        my $inner = pack 'f*', 10 * $_, 20;
        my $y = Runcible::Tensor->borrow(\$inner, [2], 'f32', $backend);
        $graph = Runcible::Graph->record($backend, [$y], sub { $_[0] + $y });
    }
    is_deeply(scalar($graph->run([Runcible::Tensor->new([1, 2], $backend)]))->array,
        [21, 22], 'after the variable');
    for my $wrong (\'constant', 'bytes', \$x, [1]) {
        fails('InvalidArgument', qr/borrowed/,
            sub { Runcible::Tensor->borrow($wrong, [1], 'f32', $backend) });
    }
    my $wide = "\x{100}";
    fails('InvalidArgument', qr/no bytes/,
        sub { Runcible::Tensor->borrow(\$wide, [1], 'f32', $backend) });
    my $short = pack 'f*', 1;
    fails('InvalidArgument', qr/\[3\]/,
        sub { Runcible::Tensor->borrow(\$short, [3], 'f32', $backend) });
};

done_testing;
