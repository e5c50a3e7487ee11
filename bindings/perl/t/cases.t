# Runs the cases of bindings/conformance/cases.json in Perl.
use strict;
use warnings;
use File::Basename 'dirname';
use File::Temp 'tempdir';
use Future;
use JSON::PP;
use List::Util qw(sum0);
use Runcible;
use Test::More;

sub read_file {
    my ($path) = @_;
    open my $file, '<:raw', $path or die "$path: $!";
    local $/;
    return <$file>;
}

my $cases_path = $ENV{RUNCIBLE_CASES} // dirname(__FILE__) . '/../../conformance/cases.json';
plan skip_all => 'the cases lie in the repository'
    unless $ENV{RUNCIBLE_CASES} || -e $cases_path;
my $document   = decode_json(read_file($cases_path));
my $golden     = decode_json(read_file(dirname($cases_path) . "/$document->{golden}"));

my %objects;
my $folder;

# What a step means by a value.
sub value {
    my ($given) = @_;
    return $given unless ref $given eq 'HASH';
    return $objects{ $given->{file} } if exists $given->{file};
    return $given unless exists $given->{golden};
    my $found = $golden;
    $found = ref $found eq 'ARRAY' ? $found->[$_] : $found->{$_}
        for split m{/}, $given->{golden};
    return $found;
}

# The class of a status; "IO" is that of RC_E_IO.
sub error_class {
    my ($name) = @_;
    my $words = $name =~ /^(IO|ABI)$/ ? $name : join '', map { ucfirst lc } split /_/, $name;
    return "Runcible::Error::$words";
}

sub object { $objects{ $_[0]{ $_[1] } } // die "there is no $_[0]{$_[1]}" }
sub keywords { my $given = $_[0]{ $_[1] // 'options' } // {};
    return map { $_ => (ref $given->{$_} eq 'JSON::PP::Boolean' ? !!$given->{$_} : $given->{$_}) } keys %$given }

# Options of generating, with the grammar that is named.
sub generating {
    my %given = keywords($_[0]);
    $given{grammar} = $objects{ $given{grammar} } if exists $given{grammar};
    return %given;
}

sub check_reply {
    my ($step, $reply) = @_;
    my %found = map { $_ => $reply->{$_} } qw(text reasoning);
    $found{calls} = [map {
        { id => $_->id, name => $_->name, arguments => $_->arguments }
    } @{ $reply->{tool_calls} }];
    is_deeply(\%found, $step->{expect}, 'the reply');
    is($reply->{report}->reason, $step->{reason}, 'the reason');
    return;
}

my %do;

sub step {
    my ($given) = @_;
    my %step = map { $_ => value($given->{$_}) } keys %$given;
    my $action = $do{ $step{do} } or die "there is no step $step{do}";
    if (!exists $step{raises}) {
        $action->(\%step);
        return;
    }
    my $lived = eval { $action->(\%step); 1 };
    my $error = $@;
    ok(!$lived, "$step{do} throws $step{raises}") or return;
    is(ref $error, error_class($step{raises}), 'the class') or return diag $error;
    like($error->message, qr/\Q$step{says}/, 'the message') if exists $step{says};
    isnt($error->message, '', 'there is a message');
    like($error->message, qr/\Q$step{names}/, 'the option') if exists $step{names};
    unlike($error->message, qr/\b(rc|RC)_|->/, 'no names of C');
    is($error->report->reason, $step{reason}, 'the reason') if exists $step{reason};
    return;
}

sub check_text {
    my ($step, $text) = @_;
    isnt($text, '', 'there is text');
    is($text, $step->{expect}, 'the text') if exists $step->{expect};
    is($text, substr($step->{expect_start_of}, 0, length $text), 'the start of the text')
        if exists $step->{expect_start_of};
    return;
}

# A stream on the event loop; a Future of its pieces.
sub stream {
    my ($step) = @_;
    my $stream = object($step, 'session')->stream($step->{prompt}, generating($step));
    my @pieces;
    my $read;
    $read = sub {
        return $stream->next->then(sub {
            my ($piece) = @_;
            return Future->done($stream, @pieces) unless $piece;
            push @pieces, $piece;
            $stream->cancel if @pieces == ($step->{cancel_after} // -1);
            return $read->();
        });
    };
    return $read->()->on_ready(sub { undef $read });
}

sub check_stream {
    my ($step, $stream, @pieces) = @_;
    check_text($step, join '', @pieces);
    cmp_ok(scalar @pieces, '>=', $step->{pieces} // 0, 'the number of pieces');
    is($stream->report->reason, $step->{reason}, 'the reason');
    return;
}

sub near {
    my ($numbers, $expected) = @_;
    cmp_ok(abs($numbers->[$_] - $expected->[$_]), '<', 2e-3, 'a number') for 0 .. $#$expected;
    return;
}

%do = (
    load => sub {
        my ($step) = @_;
        my $backend = Runcible::Backend->new($step->{backend}, keywords($step, 'backend_options'));
        $objects{ $step->{as} } = exists $step->{hub}
            ? Runcible::Model->from_hub($step->{hub}, $backend)
            : Runcible::Model->new($step->{path} // 'builtin:fable', $backend);
    },
    embed => sub {
        my ($step) = @_;
        my $rows = object($step, 'model')->embed($step->{texts});
        is(scalar @$rows, scalar @{ $step->{expect} }, 'the number of rows');
        near($rows->[$_], $step->{expect}[$_]) for 0 .. $#$rows;
    },
    rerank => sub {
        my ($step) = @_;
        my $scores = object($step, 'model')->rerank($step->{query}, $step->{documents});
        is(scalar @$scores, scalar @{ $step->{expect} }, 'the number of scores');
        near($scores, $step->{expect});
    },
    report => sub {
        my ($step) = @_;
        my $report = object($step, 'model')->report;
        is($report->$_, $step->{expect}{$_}, $_) for sort keys %{ $step->{expect} };
    },
    tokenize => sub {
        my ($step) = @_;
        is_deeply(object($step, 'model')->tokenize($step->{text}, add_special => 0),
            $step->{expect}, 'the tokens');
    },
    detokenize => sub {
        my ($step) = @_;
        is(object($step, 'model')->detokenize($step->{tokens}), $step->{expect}, 'the text');
    },
    session => sub {
        my ($step) = @_;
        $objects{ $step->{as} } = object($step, 'model')->session(keywords($step));
    },
    generate => sub {
        my ($step) = @_;
        my $generation = object($step, 'session')->generate($step->{prompt}, generating($step));
        check_text($step, $generation->text);
        is($generation->report->reason, $step->{reason}, 'the reason');
    },
    stream => sub { my ($step) = @_; check_stream($step, stream($step)->get) },
    together => sub {
        my ($step) = @_;
        my @steps = map {
            my $given = $_;
            +{ map { $_ => value($given->{$_}) } keys %$given }
        } @{ $step->{steps} };
        my @streams = map { stream($_) } @steps;
        Future->wait_all(@streams)->get;
        check_stream($steps[$_], $streams[$_]->get) for 0 .. $#steps;
    },
    tokens => sub {
        my ($step) = @_;
        # The end token ends a text and is no part of the session.
        my $tokens = object($step, 'session')->tokens;
        my @expected = @{ $step->{expect} };
        cmp_ok(@$tokens, '>=', @expected - 1, 'the number of tokens');
        is_deeply($tokens, [@expected[0 .. $#$tokens]], 'the tokens');
    },
    append => sub {
        my ($step) = @_;
        object($step, 'session')->append($step->{text} // $step->{tokens});
    },
    statuses => sub {
        my ($step) = @_;
        for my $name (sort keys %{ $step->{expect} }) {
            my $number = $step->{expect}{$name};
            is(error_class($name)->status, $number, $name);
            my $error = Runcible::Error->of_status($number, 'a message');
            is(ref $error, error_class($name), "the class of $number");
            is($error->message, 'a message', 'the message');
        }
    },
    file => sub {
        my ($step) = @_;
        my $path = $objects{ $step->{as} } = "$folder/$step->{as}";
        open my $file, '>', $path or die "$path: $!";
        print {$file} $step->{text};
        close $file or die "$path: $!";
    },
    start => sub {
        my ($step) = @_;
        $objects{ $step->{as} }
            = object($step, 'session')->generate($step->{prompt}, keywords($step));
    },
    finish => sub {
        my ($step) = @_;
        object($step, 'generation')->close;
        is(object($step, 'generation')->report->reason, 'cancelled', 'the reason');
    },
    close => sub { my ($step) = @_; object($step, 'object')->close },
    save  => sub {
        my ($step) = @_;
        object($step, 'session')->save($objects{ $step->{as} } = "$folder/session.gguf");
    },
    restore => sub {
        my ($step) = @_;
        $objects{ $step->{as} }
            = Runcible::Session->restore(object($step, 'model'), object($step, 'saved'));
    },
    fork => sub { my ($step) = @_; $objects{ $step->{as} } = object($step, 'session')->fork },
    grammar => sub {
        my ($step) = @_;
        my $kind  = $step->{kind};
        my $given = $step->{schema} // $step->{choices} // $step->{text};
        $objects{ $step->{as} }
            = Runcible::Grammar->$kind(object($step, 'model'), $given, keywords($step));
    },
    chat => sub {
        my ($step) = @_;
        $objects{ $step->{as} } = object($step, 'session')->chat(keywords($step));
    },
    add  => sub { my ($step) = @_; object($step, 'chat')->add(@{ $step->{messages} }) },
    undo => sub { my ($step) = @_; object($step, 'chat')->undo($step->{count}) },
    messages => sub {
        my ($step) = @_;
        is_deeply(object($step, 'chat')->messages, $step->{expect}, 'the messages');
    },
    fork_chat => sub {
        my ($step) = @_;
        $objects{ $step->{as} } = object($step, 'chat')->fork;
    },
    # On the event loop.
    answer => sub {
        my ($step) = @_;
        my $stream = object($step, 'chat')->stream(generating($step));
        my %reply  = (text => '', reasoning => '', tool_calls => []);
        while (my $part = $stream->next->get) {
            if ($part->isa('Runcible::ToolCall')) { push @{ $reply{tool_calls} }, $part }
            elsif ($part->isa('Runcible::Reasoning')) { $reply{reasoning} .= $part }
            else { $reply{text} .= $part }
        }
        check_reply($step, { %reply, report => $stream->report });
    },
    ask => sub {
        my ($step) = @_;
        check_reply($step, object($step, 'chat')->ask($step->{text}, generating($step)));
    },
    decode => sub {
        my ($step) = @_;
        object($step, 'session')->decode(all_logits => $step->{all_logits});
    },
    logits => sub {
        my ($step) = @_;
        my $logits = object($step, 'session')->logits;
        is(scalar @$logits, $step->{rows}, 'the rows');
        is(scalar(grep { @$_ != $step->{vocabulary} } @$logits), 0, 'their lengths');
        my $row = $logits->[$step->{row}];
        my ($largest) = sort { $row->[$b] <=> $row->[$a] } 0 .. $#$row;
        is($largest, $step->{largest}, 'the largest');
        my $error = abs(sum0(@$row) / $step->{sum} - 1);
        cmp_ok($error, '<=', $step->{tolerance}, 'the sum');
    },
    tensor => sub {
        my ($step) = @_;
        my $count = 1;
        $count *= $_ for @{ $step->{shape} };
        $objects{ $step->{as} } = Runcible::Tensor->new(
            $step->{values} // [($step->{fill}) x $count],
            Runcible::Backend->new($step->{backend}),
            shape => $step->{shape});
    },
    matmul => sub {
        my ($step) = @_;
        $objects{ $step->{as} } = object($step, 'a')->matmul(object($step, 'b'));
    },
    quantize => sub { my ($step) = @_; object($step, 'tensor')->quantize($step->{dtype}) },
    read     => sub {
        my ($step) = @_;
        is_deeply(object($step, 'tensor')->shape, $step->{expect_shape}, 'the shape');
        my @numbers = map { ref $_ ? @$_ : $_ } @{ object($step, 'tensor')->array };
        is_deeply(\@numbers, $step->{expect}, 'the numbers');
    },
    record => sub {
        my ($step) = @_;
        $objects{ $step->{as} } = Runcible::Graph->record(
            Runcible::Backend->new($step->{backend}),
            [@objects{ @{ $step->{like} } }],
            sub {
                my @values = @_;
                for my $op (@{ $step->{ops} }) {
                    my ($name, $x, @others) = @$op;
                    push @values, $values[$x]->$name(@values[@others]);
                }
                return @values[@{ $step->{outputs} }];
            });
    },
    run => sub {
        my ($step) = @_;
        my @made = object($step, 'graph')->run([@objects{ @{ $step->{inputs} } }]);
        @objects{ @{ $step->{as} } } = @made;
    },
    run_later => sub {
        my ($step) = @_;
        my @made = object($step, 'graph')->run_async([@objects{ @{ $step->{inputs} } }])->get;
        @objects{ @{ $step->{as} } } = @made;
    },
    open_later => sub {
        my ($step) = @_;
        my @told;
        my $backend = Runcible::Backend->open_async($step->{spec},
            progress => sub { push @told, @_ })->get;
        is($told[-1], 1, 'all is done');
        is($backend->device->id, $step->{expect}, 'the device');
    },
    switch => sub {
        my ($step) = @_;
        my $backend = Runcible::Backend->new($step->{from});
        $backend->switch($step->{spec});
        is($backend->device->id, $step->{expect}, 'the device');
    },
    custom_op => sub {
        my ($step) = @_;
        $objects{ $step->{as} } = Runcible::CustomOp->new(
            library => $ENV{RUNCIBLE_CUSTOM_OP},
            map { $_ => $step->{$_} } qw(name signature attributes items));
    },
    compute => sub {
        my ($step) = @_;
        my @made = object($step, 'op')
            ->compute([@objects{ @{ $step->{inputs} } }], scale => $step->{scale});
        @objects{ @{ $step->{as} } } = @made;
    },
    pinned => sub {
        my ($step) = @_;
        my $count = 1;
        $count *= $_ for @{ $step->{shape} };
        my $memory = Runcible::Pinned->new(
            Runcible::Backend->new($step->{backend}), 4 * $count, $step->{device});
        is(${ $memory->bytes }, "\0" x (4 * $count), 'zero at first');
        $memory->write(pack 'f*', @{ $step->{values} });
        $objects{ $step->{as} } = $memory;
    },
    from_pinned   => sub { of_pinned('from_bytes', @_) },
    borrow_pinned => sub { of_pinned('borrow',     @_) },
    write_pinned  => sub {
        my ($step) = @_;
        object($step, 'memory')->write(pack 'f*', @{ $step->{values} });
    },
    read_into => sub {
        my ($step) = @_;
        my $bytes = object($step, 'tensor')->read_into(object($step, 'memory')->bytes);
        is_deeply([unpack 'f*', $$bytes], $step->{expect}, 'the numbers');
    },
    drop_pinned    => sub { object($_[0], 'memory')->close },
    discover_later => sub {
        my ($step) = @_;
        my ($devices) = Runcible::discover_async()->get;
        ok((grep { $_->id eq $step->{expect} } @$devices), 'the device');
    },
);

sub of_pinned {
    my ($make, $step) = @_;
    $objects{ $step->{as} } = Runcible::Tensor->$make(
        object($step, 'memory')->bytes, $step->{shape}, 'f32',
        Runcible::Backend->new($step->{backend}));
    return;
}

# Which cases passed; see bindings/README.md.
my @lines = "language\tPerl\n";
for my $case (@{ $document->{cases} }) {
    %objects = ();
    $folder  = tempdir(CLEANUP => 1);
    subtest $case->{name} => sub {
        my $lived = eval { step($_) for @{ $case->{steps} }; 1 };
        ok($lived, 'nothing else is thrown') or diag $@;
    } and push @lines, "passed\t$case->{name}\n";
}
%objects = ();
if (my $path = $ENV{RUNCIBLE_CASES_REPORT}) {
    open my $report, '>', $path or die "$path: $!";
    print {$report} @lines;
    close $report or die "$path: $!";
}
done_testing;
