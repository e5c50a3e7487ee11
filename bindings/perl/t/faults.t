# Wrong types, closed objects, threads, forks, exits: no crash, no hang.
use strict;
use warnings;
use Config;
use Errno ();
use File::Temp 'tempdir';
use IPC::Open3;
use List::Util 'shuffle';
use Runcible;
use Test::More;
use Time::HiRes ();

my $model = Runcible::Model->new('builtin:fable', 'cpu');
sub endless { $model->session(when_full => 'shift')->generate('A', ignore_eos => 1) }

# Runs a separate program, which must print `expected` and end with a status, by default
# 0.
sub prints {
    my ($name, $expected, $program, $status) = @_;
    my $pid = open3(my $in, my $out, undef, $^X, '-w', '-e', "use Runcible; $program");
    close $in;
    my $printed = do { local $/; <$out> };
    waitpid $pid, 0;
    is($printed, $expected, $name);
    is($? >> 8, $status // 0, "$name: its status");
    is($? & 127, 0, "$name: no signal");
    return;
}

subtest 'unknown options' => sub {
    my $backend = Runcible::Backend->new('cpu');
    my $tensor  = Runcible::Tensor->ones([1, 1, 1, 1], $backend);
    my @texts   = qw(add_special grammar logit_bias parse_special stop stop_tokens);
    my %calls   = (
        generate => [sub { $model->session->generate('A', @_) }, 'deadline', @texts],
        backend  => [sub { Runcible::Backend->new('cpu', @_) }, 'timeout', 'tenant'],
        conv2d   => [sub { $tensor->conv2d($tensor, undef, @_) }, 'stride'],
    );
    for my $kind (sort keys %calls) {
        my ($call, @some) = @{ $calls{$kind} };
        my @made  = @{ $Runcible::Members::options{"${kind}_options"}{names} };
        my %known = map { $_ => 1 } @made, @some;
        my $known = join ', ', sort keys %known;
        is(scalar(grep { $_ eq $some[0] } @made), 1, "$kind: $some[0]");
        # Names of C are not options: they have other names or units here.
        for my $wrong (qw(nonsense deadline_ms tokenize_flags timeout_ms struct_size)) {
            eval { $call->($wrong => 1) };
            is($@->message, "there is no option '$wrong', but $known", "$kind: $wrong");
        }
    }
};

subtest 'a generation that was left ends' => sub {
    my $session = $model->session(when_full => 'shift');
    for (1 .. 20) {
        my $generation = $session->generate('A', ignore_eos => 1);
        $generation->next;
        undef $generation;
        # Only dropping the reference can have ended it.
        ok(eval { Runcible::Native::session_append_text($session->proxy, 'B', 0); 1 },
            'dropping it waits for the end') or diag $@;
    }
    my $generation = $session->generate('A', ignore_eos => 1);
    local $SIG{ALRM} = sub { die "the handler\n" };
    Time::HiRes::alarm(0.2);
    ok(!eval { 1 while $generation->next; 1 }, 'a handler that dies');
    is($@, "the handler\n", 'its exception');
    ok(eval { $session->generate('B', max_tokens => 2)->text; 1 }, 'the session is free');
};

subtest 'errors of the system' => sub {
    my $folder = tempdir(CLEANUP => 1);
    symlink 'loop.gguf', "$folder/loop.gguf" or die $!;
    eval { Runcible::Model->new("$folder/loop.gguf", 'cpu') };
    is($@->errno, Errno::ELOOP(), 'of a loop');
    eval { Runcible::Model->new("$folder/none.gguf", 'cpu') };
    is($@->errno, Errno::ENOENT(), 'of no file');
    eval { Runcible::Model->new($folder, 'cpu') };
    is($@->errno, Errno::EIO(), 'of a folder');
    eval { $model->session->decode };
    is($@->errno, undef, 'of none');
};

subtest 'wrong arguments' => sub {
    my $backend = Runcible::Backend->new('cpu');
    my @wrong   = (
        sub { Runcible::Backend->new([7]) },
        sub { Runcible::Backend->new('cpu', nonsense => 1) },
        sub { Runcible::Model->new('builtin:fable', [7]) },
        sub { Runcible::Model->new('builtin:fable', 'cpu', progress => 7) },
        sub { Runcible::Session->new('model') },
        sub { $model->tokenize(\"\x{100}") },
        sub { $model->detokenize([undef]) },
        sub { $model->session->generate({}) },
        sub { $model->session->generate('A', max_tokens => 'NaN') },
        sub { $model->session->generate('A', max_tokens => [1]) },
        sub { $model->session->generate('A', max_tokens => $model) },
        sub { $model->session->generate('A', max_tokens => endless()->next) },
        sub { $model->session->generate('A', stop => [[7]]) },
        sub { $model->session->generate('A', deadline => 'NaN') },
        sub { $model->session->generate('A', logit_bias => [1]) },
        sub { $model->session->generate('A', seed => -1) },
        sub { Runcible::Tensor->new(['a'], $backend) },
        sub { Runcible::Tensor->new(7, $backend) },
        sub { Runcible::Tensor->new([[1], [2, 3]], $backend) },
        sub { Runcible::Tensor->zeros([1], $backend, dtype => 'f99') },
        sub { Runcible::Native::session_decode($model->proxy, 0) },
        sub { Runcible::Native::session_position(undef) },
        sub { Runcible::Native::backend_explain('a') },
    );
    for my $i (0 .. $#wrong) {
        my $lived = eval { $wrong[$i]->(); 1 };
        ok(!$lived, "$i throws");
        isa_ok($@, 'Runcible::Error::InvalidArgument', $i) or diag $@;
    }
    Runcible::Native::drop($_) for undef, 7, {}, $model;
    ok($model->report, 'nothing happened');
};

subtest 'after closing' => sub {
    my $session = $model->session;
    $session->close;
    ok($session->closed, 'closed');
    my $proxy = Runcible::Native::session_create($model->proxy, undef);
    Runcible::Native::drop($proxy) for 0 .. 1;
    eval { Runcible::Native::session_position($proxy) };
    isa_ok($@, 'Runcible::Error::Closed') and like($@->message, qr/closed/, 'the message');
    eval { Runcible::Session->of(undef)->decode };
    isa_ok($@, 'Runcible::Error::Closed');
};

subtest 'closing within a call' => sub {
    my $tokenizer = Runcible::Tokenizer->new('builtin:fable');
    {
        package Closing;
        use overload '""' => sub { $_[0]{handle}->close; '5' };
    }
    eval { $tokenizer->detokenize([bless { handle => $tokenizer }, 'Closing']) };
    isa_ok($@, 'Runcible::Error::Closed', 'of an argument');
    my $backend = Runcible::Backend->new('cpu');
    my $mine    = Runcible::Model->new('builtin:fable', $backend, progress => sub { $backend->close });
    is($mine->report->device, 'cpu:0', 'of a load');
};

subtest 'dropped in any order' => sub {
    for my $seed (0 .. 5) {
        srand $seed;
        my $backend = Runcible::Backend->new('cpu');
        my $mine    = Runcible::Model->new('builtin:fable', $backend);
        my $session = $mine->session;
        my @things  = shuffle($backend, $mine, $session, $session->fork,
            $session->generate('A'), $mine->tokenizer, $mine->session);
        ($backend, $mine, $session) = ();
        shift @things while @things;
        pass("seed $seed");
    }
};

subtest 'exceptions' => sub {
    my $session    = $model->session(when_full => 'shift');
    my $generation = $session->generate('A', ignore_eos => 1);
    eval { while (my $piece = <$generation>) { die "mine\n" } };
    is($@, "mine\n", 'while streaming');
    $generation->close;
    is($generation->report->reason, 'cancelled', 'the reason');
    ok($session->append('B'), 'not busy');
    eval { Runcible::Model->new('builtin:fable', 'cpu', progress => sub { die "mine\n" }) };
    is($@, "mine\n", 'of the progress function');
    eval { Runcible::Model->new('builtin:fable', 'cpu', progress => sub { die { my => 'own' } }) };
    is($@->{my}, 'own', 'and its objects');
    eval { Runcible::Model->new('builtin:nothing', 'cpu') };
    isa_ok($@, 'Runcible::Error::NotFound', 'the next one');
};

subtest 'signals' => sub {
    my $generation = endless();
    local $SIG{ALRM} = sub { die "late\n" };
    alarm 1;
    eval { $generation->pieces };
    alarm 0;
    is($@, "late\n", 'end a generation');
    $generation->close;
    is($generation->report->reason, 'cancelled', 'which can be closed');
    my $handled = 0;
    local $SIG{USR1} = sub { ++$handled };
    local $SIG{USR2} = sub { die "stop\n" };
    kill 'USR1', $$;
    my $once = 0;
    eval {
        Runcible::Model->new('builtin:fable', 'cpu', progress => sub { kill 'USR2', $$ unless $once++ });
    };
    is($@, "stop\n", 'end a load');
    is($handled, 1, 'others are handled');
};

prints('exit with requests in flight', "done\n", <<'PERL');
    use IO::Async::Loop;
    my $model = Runcible::Model->new('builtin:fable', 'cpu');
    our @kept = map { $model->session(when_full => 'shift')->generate('A', ignore_eos => 1) } 0 .. 2;
    $kept[0]->next;
    push @kept, map { $model->session(when_full => 'shift')->stream('A', ignore_eos => 1) } 0 .. 2;
    $kept[4]->next->get;
    our $waiting = $kept[5]->next;
    print "done\n";
PERL

prints('exit within a generation', "done\n", <<'PERL');
    our $session = Runcible::Model->new('builtin:fable', 'cpu')->session(when_full => 'shift');
    our $tale = $session->generate('A', ignore_eos => 1);
    while (<$tale>) { print "done\n"; exit }
PERL

prints('exit within a load', "done\nend\n", <<'PERL', 3);
    END { print "end\n" }
    Runcible::Model->new('builtin:fable', 'cpu', progress => sub { print "done\n"; exit 3 });
    print "went on\n";
PERL

prints('globals that hold one another', "done\n", <<'PERL');
    our %all = (model => Runcible::Model->new('builtin:fable', 'cpu'));
    $all{session} = $all{model}->session;
    $all{tale} = $all{session}->generate('A', ignore_eos => 1);
    $all{stream} = $all{model}->session->stream('A', ignore_eos => 1);
    $all{all} = \%all;
    print "done\n";
PERL

prints('fork with a model', "0 1\n", <<'PERL');
    my $model = Runcible::Model->new('builtin:fable', 'cpu');
    my $session = $model->session;
    my $tale = $session->generate('A');
    my $stream = $model->session->stream('A');
    my $child = fork;
    if (!$child) {
        for my $use (sub { $session->fork }, sub { $tale->next }, sub { $model->session },
            sub { Runcible::Backend->new('cpu') }, sub { $stream->next->get }) {
            eval { $use->() };
            exit 3 unless ref $@ && $@->isa('Runcible::Error::Closed');
            exit 4 unless $@->message =~ /child of a fork/;
        }
        $model->close;
        undef $session;
        undef $tale;
        exit 0;
    }
    waitpid $child, 0;
    print $?, ' ', length $tale->text ? 1 : 0, "\n";
PERL

prints('fork before any model', "0\n", <<'PERL');
    my $child = fork;
    if (!$child) {
        my $model = Runcible::Model->new('builtin:fable', 'cpu');
        exit(length $model->session->generate('A', max_tokens => 3)->text ? 0 : 3);
    }
    waitpid $child, 0;
    print "$?\n";
PERL

SKIP: {
    skip 'no threads', 3 unless $Config{usethreads};
    prints('threads', "1111\nClosed Closed Closed\ndone\n", <<'PERL');
    use threads;
    my $model = Runcible::Model->new('builtin:fable', 'cpu');
    my $session = $model->session(when_full => 'shift');
    my $tale = $session->generate('A', ignore_eos => 1);
    my $stream = $model->session(when_full => 'shift')->stream('A', ignore_eos => 1);
    my $options = Runcible::Native::new_generate_options();
    my $tensor = Runcible::Tensor->new([1, 2], $model->backend);
    my @threads = map {
        my $seed = $_;
        threads->create({ context => 'scalar' }, sub {
            $tensor->array->[1] == 2 or return 'wrong numbers';
            $model->session->generate('A', seed => $seed, max_tokens => 10)->text;
        })
    } 1 .. 4;
    my @texts = map { $_->join } @threads;
    print map { $texts[$_ - 1] eq $model->session->generate('A', seed => $_, max_tokens => 10)->text ? 1 : 0 } 1 .. 4;
    print "\n";
    print threads->create({ context => 'scalar' }, sub {
        join ' ', map { eval { $_->() }; ref($@) =~ /(\w+)$/ }
            sub { $session->position }, sub { $tale->next }, sub { $stream->cancel };
    })->join, "\n";
    $tale->next;
    $tale->close;
    $stream->close->get;
    print "done\n";
PERL
}

# Generations leave nothing behind, in Perl or in C.
prints('generations do not leak', "done\n", <<'PERL');
    my $model = Runcible::Model->new('builtin:fable', 'cpu');
    sub resident {
        open my $file, '<', '/proc/self/statm' or die $!;
        return (split ' ', <$file>)[1] * 4096;
    }
    sub generate {
        for (1 .. $_[0]) {
            $model->session->generate('A', max_tokens => 1, stop => ['x'], logit_bias => { 5 => -1 })->text;
            eval { $model->session->truncate(5) };
        }
    }
    sub stream {
        $model->session->stream('A', max_tokens => 1)->text->get for 1 .. $_[0];
    }
    generate(2000);
    stream(200);
    # A leak grows in each round; the allocator grows in jumps, and for longer where
    # there are many threads.
    my @grown;
    do {
        my $before = resident();
        generate(2000);
        stream(500);
        push @grown, resident() - $before;
    } until $grown[-1] < 1 << 20 || @grown == 16;
    print $grown[-1] < 1 << 20 ? "done\n" : "grew by @grown bytes\n";
PERL

done_testing;
