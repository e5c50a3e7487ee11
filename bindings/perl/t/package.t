# The package besides the cases: values, reports, tensors, the examples.
use strict;
use warnings;
use utf8;
use File::Basename 'dirname';
use File::Temp 'tempfile';
use Runcible;
use Test::More;

binmode $_, ':encoding(UTF-8)' for map { Test::More->builder->$_ }
    qw(output failure_output todo_output);
my $model = Runcible::Model->new('builtin:fable', 'cpu');

subtest 'iterators' => sub {
    my %options = (temperature => 0, max_tokens => 12);
    my $generation = $model->session->generate('A fox', %options);
    my $first = $generation->next;
    isa_ok($first, 'Runcible::Piece');
    my $next = $model->session->generate('A fox', %options);
    is($next->(), "$first", 'as a function');
    my @rest = <$generation>;
    my $count = 0;
    $count += @{ $_->tokens } for $first, @rest;
    is($count, 12, 'tokens');
    is($generation->next, undef, 'nothing after the end');
    is(join('', $first, @rest), $model->session->generate('A fox', %options)->text, 'the text');
};

subtest 'seeds' => sub {
    my $random = $model->session->generate('A', max_tokens => 1);
    $random->text;
    my $again = $model->session->generate('A', max_tokens => 1, seed => $random->report->seed);
    $again->text;
    is($again->report->seed, $random->report->seed, 'seeds of 64 bits');
    require Math::BigInt;
    my $large = $model->session->generate('A', max_tokens => Math::BigInt->new(1),
        seed => Math::BigInt->new('12345678901234567890'));
    $large->text;
    is($large->report->seed, '12345678901234567890', 'numbers that are objects');
};

subtest 'texts' => sub {
    my $bytes = "a\xFFb";
    like($model->detokenize($model->tokenize(\$bytes)), qr/a\x{FFFD}b$/, 'bytes');
    like($model->tokenizer->detokenize_bytes($model->tokenize(\$bytes)), qr/a\xFFb$/, 'and back');
    my $latin = "gr\xFCn";
    utf8::upgrade(my $upgraded = $latin);
    is_deeply($model->tokenize($latin), $model->tokenize($upgraded), 'characters');
    like($model->detokenize($model->tokenize('grün €')), qr/grün €$/, 'and back');
    my $piece = $model->session->generate('A', max_tokens => 1)->next;
    is_deeply($model->tokenize($piece), $model->tokenize("$piece"), 'objects that are strings');
};

subtest 'reports' => sub {
    my $plan = Runcible::plan('builtin:fable', 'cpu', context_length => 64, cache_dtype => 'f32');
    is($plan->fits, 1, 'a plan of a backend by its name');
};

subtest 'progress' => sub {
    my @fractions;
    Runcible::Model->new('builtin:fable', 'cpu', progress => sub { push @fractions, @_ });
    is_deeply(\@fractions, [sort { $a <=> $b } @fractions], 'in order');
    cmp_ok($fractions[-1], '==', 1, 'to the end');
};

subtest 'sessions' => sub {
    my $session = $model->session(when_full => 'shift', keep_tokens => 1);
    $session->append('A fox')->append([5, 6]);
    is($session->decode->truncate(2)->position, 2, 'truncated');
    $session->append('A')->decode;
    my ($bytes, $rows, $columns) = $session->logits_bytes;
    is_deeply([unpack 'f*', $bytes], $session->logits->[0], 'logits');
    is_deeply([$rows, $columns], [1, $model->report->vocabulary], 'their number');
    eval { $model->session->logits };
    isa_ok($@, 'Runcible::Error::NotFound');
    is($@->status, Runcible::Error::NotFound->status, 'the status');
    like("$@", qr/ at .*package\.t line \d+\.$/, 'where');
};

subtest 'tensors' => sub {
    my $backend = Runcible::Backend->new('cpu');
    my $a = Runcible::Tensor->new([[1, 2, 3], [4, 5, 6]], $backend);
    is_deeply([$a->size, $a->bytes], [6, 24], 'a');
    is_deeply(($a + $a)->array, [[2, 4, 6], [8, 10, 12]], 'add');
    is_deeply(($a * $a)->array, [[1, 4, 9], [16, 25, 36]], 'mul');
    eval { my $c = $a - $a };
    like($@, qr/'-'/, 'no op');
    ok($a == $a && "$a" eq "$a" && $a, 'compared');
    is_deeply($a->reshape(2, -1, 1)->array, [[[1], [2], [3]], [[4], [5], [6]]], 'reshape');
    my $x = Runcible::Tensor->random([2, 256], $backend, seed => 1);
    is_deeply($x->array, Runcible::Tensor->random([2, 256], $backend, seed => 1)->array, 'seeds');
    my $weight = $x->quantize('q8_0');
    is_deeply(Runcible::Tensor->from_bytes($weight->read, $weight->shape, 'q8_0', $backend)->array,
        $weight->array, 'bytes');
    is_deeply($x->matmul_quantized($weight)->array, $x->fused_linear($weight)->array, 'products');
    is_deeply(Runcible::Tensor->zeros([2, 0], $backend)->array, [[], []], 'empty');
};

subtest 'docs of the headers' => sub {
    open my $file, '<', $INC{'Runcible/Session.pm'} or die $!;
    my $source = do { local $/; <$file> };
    unlike($source, qr/^=for header/m, 'no marks');
    like($source, qr/Evaluates the tokens that have not been evaluated/, 'their words');
};

subtest 'examples' => sub {
    my $examples = dirname(__FILE__) . '/../examples';
    my $tale = `$^X -w $examples/hello.pl 'A crow' 2>&1`;
    is($?, 0, 'hello.pl') or diag $tale;
    like($tale, qr/^A crow.*\n\d+ tokens, \w+\n\z/s, 'its tale');
    my $tales = `$^X -w $examples/together.pl 2>&1`;
    is($?, 0, 'together.pl') or diag $tales;
    like($tales, qr/^A fox.*^A goose/ms, 'its tales');
    is(`$^X -w $examples/silu_gate.pl 2>&1`, "-1.5379\n0.0000\n2.4621\n2.8808\n",
        'silu_gate.pl');
};

subtest 'the conversation of the README' => sub {
    open my $file, '<', dirname(__FILE__) . '/../README.md' or die $!;
    my $readme = do { local $/; <$file> };
    my ($program) = $readme =~ /<!-- tests: chat -->\n```perl\n(.*?)```/s;
    my ($written, $path) = tempfile(UNLINK => 1);
    print $written $program;
    close $written or die $!;
    my $output = `$^X -w $path 2>&1`;
    is($?, 0, 'its status');
    is($output, "Who will not let go is held.\nIn it there is a bear and a bee.\n", 'its answers');
};

done_testing;
