# Runs the cases in bindings/conformance in Perl; see README.md there.
use strict;
use warnings;
use File::Basename 'dirname';
use File::Temp 'tempdir';
use Future;
use JSON::PP;
use List::Util qw(sum0);
use Runcible;
use Scalar::Util qw(blessed looks_like_number);
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
my %do;

# Returns the value that a step gives: "$name" is an object.
sub value {
    my ($given) = @_;
    return [map { value($_) } @$given] if ref $given eq 'ARRAY';
    return { map { $_ => value($given->{$_}) } keys %$given } if ref $given eq 'HASH';
    return $given unless defined $given && $given =~ /^\$/;
    my ($kind, @rest) = split m{/}, substr $given, 1;
    return "$folder/$rest[0]" if $kind eq 'path';
    return Runcible::Backend->new(@rest) if $kind eq 'backend';
    my $found = $kind eq 'golden' ? $golden : $objects{$kind} // die "there is no $kind";
    if ($kind ne 'golden') { $found = member($found, $_) for @rest; return $found }
    $found = ref $found eq 'ARRAY' ? $found->[$_] : $found->{$_} for @rest;
    return $found;
}

# Returns the class of a status; "IO" is that of RC_E_IO.
sub error_class {
    my ($name) = @_;
    my $words = $name =~ /^(IO|ABI)$/ ? $name : join '', map { ucfirst lc } split /_/, $name;
    return "Runcible::Error::$words";
}

# Returns options as pairs, with booleans of Perl.
sub keywords {
    my ($step) = @_;
    my %given = %{ value($step->{options} // {}) };
    $given{logit_bias} = { map { $_->[0] => $_->[1] // -9**9**9 } @{ $given{logit_bias} } }
        if exists $given{logit_bias};
    return map { $_ => (ref $given{$_} eq 'JSON::PP::Boolean' ? !!$given{$_} : $given{$_}) } keys %given;
}

sub step {
    my ($step) = @_;
    return if grep { $_ eq 'Perl' } @{ $step->{except} // [] };
    return act($step) unless exists $step->{raises};
    my $lived = eval { act($step); 1 };
    my $error = $@;
    ok(!$lived, "$step->{do} throws $step->{raises}") or return;
    my $status = $step->{raises} =~ /^(TYPE|VALUE)$/ ? 'INVALID_ARGUMENT' : $step->{raises};
    is(ref $error, error_class($status), 'the class') or return diag $error;
    like($error->message, qr/\Q$step->{says}/, 'the message') if exists $step->{says};
    isnt($error->message, '', 'there is a message');
    like($error->message, qr/^\Q$step->{names}/, 'the option') if exists $step->{names};
    unlike($error->message, qr/\b(rc|RC)_|->/, 'no names of C');
    is(defined $error->retry_after, !!$step->{retries}, 'whether to try again') if exists $step->{retries};
    is($error->report->reason, $step->{reason}, 'the reason') if exists $step->{reason};
    return;
}

sub act {
    my ($step) = @_;
    my @found = call($step);
    if (ref $step->{as}) {
        is(scalar @found, scalar @{ $step->{as} }, 'the number of results');
        @objects{ @{ $step->{as} } } = @found;
    } elsif (exists $step->{as}) {
        $objects{ $step->{as} } = $found[0];
    }
    is(problem($found[0], value($step->{expect}), $step->{do}), '', $step->{do})
        if exists $step->{expect};
    return;
}

# Makes the call of a step, on an object, a class or the package.
sub call {
    my ($step) = @_;
    my ($on, $method) = split /\./, $step->{do};
    my @given  = @{ value($step->{with} // []) };
    my $target = $objects{$on} // "Runcible::$on";
    my $own    = $do{ $step->{do} } // $do{ $method // $on };
    return $own->($step, $target, @given, keywords($step)) if $own;
    push @given, undef if ($method // '') =~ /^(conv2d|fused_linear|rope)$/;    # the optional tensor
    my %options = %{ $step->{options} // {} };
    my ($plain) = grep { defined } @options{qw(keep function)};
    return $target->$method(@given, $plain) if defined $plain;
    return $target->$method(@given, keywords($step)) if defined $method;
    return $objects{$on} // Runcible->can($on)->(@given, keywords($step));
}

# Returns how the found value differs from the expected part of it; "" if it does
# not.
sub problem {
    my ($found, $expected, $what) = @_;
    if (ref $expected eq 'ARRAY') {
        return "$what is not a list" unless ref $found eq 'ARRAY';
        return "$what has " . @$found if @$found != @$expected;
        return first_problem(map { [$found->[$_], $expected->[$_], "$what\[$_]"] } 0 .. $#$expected);
    }
    if (ref $expected eq 'HASH') {
        for my $name (sort grep { $_ ne '$by' } keys %$expected) {
            my @given = ($found, $expected->{$name}, $what, $expected->{'$by'});
            my $problem = $name =~ /^\$/ ? compared($name, @given)
                : problem(member($found, $name), $expected->{$name}, "$what.$name");
            return $problem if $problem;
        }
        return '';
    }
    return !!$found eq !!$expected ? '' : $what if ref $expected eq 'JSON::PP::Boolean';
    return defined $found ? $what : '' unless defined $expected;
    return "$what is undefined" unless defined $found;
    my $same = looks_like_number($expected) && looks_like_number($found)
        ? $found == $expected : $found eq $expected;
    return $same ? '' : "$what is $found instead of $expected";
}

sub first_problem {
    for (@_) { my $problem = problem(@$_); return $problem if $problem }
    return '';
}

sub flat { return map { ref $_ ? flat(@$_) : $_ } @_ }

sub member {
    my ($found, $name) = @_;
    return [flat(@{ $found->array })] if $name eq 'numbers';
    return $found->[$name eq 'logprob'] if ref $found eq 'ARRAY' && $name =~ /^(token|logprob)$/;
    return $found->$name if blessed $found && $found->can($name);
    return $found->{$name};
}

sub compared {
    my ($name, $found, $wanted, $what, $by) = @_;
    my $said = encode_json([$what, $name, $wanted]);
    my $holds = sub { $_[0] ? '' : $said };
    my $json  = JSON::PP->new->canonical->allow_nonref->convert_blessed;
    if ($name eq '$same') { return $holds->($json->encode($found) eq $json->encode($wanted)) }
    if ($name eq '$not')   { return $holds->($found ne $wanted) }
    if ($name eq '$least') { return $holds->($found >= $wanted) }
    if ($name eq '$most')  { return $holds->($found <= $wanted) }
    if ($name eq '$count') { return problem(scalar @$found, $wanted, "$what count") }
    if ($name eq '$some')  { return $holds->(scalar grep { !problem($_, $wanted, '') } @$found) }
    if ($name eq '$any')   { return $holds->(scalar grep { !problem($found, $_, '') } @$wanted) }
    if ($name eq '$all')   { return first_problem(map { [$_, $wanted, $what] } @$found) }
    if ($name eq '$near') {
        ($found, $wanted) = ([$found], [$wanted]) unless ref $wanted;
        return $holds->(@$found >= @$wanted && !grep { abs($found->[$_] - $wanted->[$_]) > $by } 0 .. $#$wanted);
    }
    return $holds->($found ne '' && $found eq substr $wanted, 0, length $found) if $name eq '$start_of';
    die "there is no comparison $name" if $name ne '$but_last';
    return $holds->(@$found >= @$wanted - 1) || problem($found, [@$wanted[0 .. $#$found]], $what);
}

# Returns a Future of the pieces of a stream on the event loop.
sub stream {
    my ($step, $session, $prompt, %options) = @_;
    my $stream = $session->stream($prompt, %options);
    my @pieces;
    my $read;
    $read = sub {
        return $stream->next->then(sub {
            my ($piece) = @_;
            return Future->done({ text => join('', @pieces), pieces => \@pieces, report => $stream->report })
                unless $piece;
            push @pieces, $piece;
            $stream->cancel if @pieces == ($step->{cancel_after} // -1);
            return $read->();
        });
    };
    return $read->()->on_ready(sub { undef $read });
}

# Steps that are not one call, or have another name in Perl.
%do = (
    'Backend.open'   => sub { my (undef, $class, @given) = @_; $class->new(@given) },
    'Model.load'     => sub { my (undef, $class, @given) = @_; $class->new(@given) },
    'Tokenizer.open' => sub { my (undef, $class, @given) = @_; $class->new(@given) },
    'Tenant.create'  => sub { my (undef, $class, @given) = @_; $class->new(@given) },
    'Tensor.of'      => sub {
        my (undef, $class, $values, $shape, $backend, %options) = @_;
        $class->new($values, $backend, shape => $shape, %options);
    },
    generate => sub {
        my ($step, $session, @given) = @_;
        unshift @given, undef unless $step->{with};    # no prompt
        my $generation = $session->generate(@given);
        return { text => $generation->text, report => $generation->report };
    },
    stream   => sub { stream(@_)->get },
    together => sub {
        my @steps   = @{ $_[0]{steps} };
        my @streams = map {
            my ($name, $method) = split /\./, $_->{do};
            my @all = ($objects{$name}, @{ value($_->{with}) }, keywords($_));
            $method eq 'stream' ? stream($_, @all) : $all[0]->run_async(@all[1 .. $#all]);
        } @steps;
        Future->wait_all(@streams)->get;
        for my $i (0 .. $#steps) {
            my @found = $streams[$i]->get;
            @objects{ @{ $steps[$i]{as} // [] } } = @found;
            is(problem($found[0], value($steps[$i]{expect} // {}), $steps[$i]{do}), '', $steps[$i]{do});
        }
    },
    start  => sub { my (undef, $session, @given) = @_; scalar $session->generate(@given) },
    leave  => sub { my (undef, $session, @given) = @_; my $left = $session->generate(@given); $left->next; $left },
    finish => sub { my (undef, $generation) = @_; $generation->close; $generation },
    close_all => sub { my (undef, undef, @names) = @_; $objects{$_}->close for @names },
    statuses => sub {
        my (undef, undef, $numbers) = @_;
        for my $name (sort keys %$numbers) {
            is(error_class($name)->status, $numbers->{$name}, $name);
            my $error = Runcible::Error->of_status($numbers->{$name}, 'a message');
            is(ref $error, error_class($name), "the class of $name");
            is($error->message, 'a message', 'the message');
        }
    },
    file => sub {
        my (undef, undef, $path, $text) = @_;
        open my $file, '>', $path or die "$path: $!";
        print {$file} $text;
        close $file or die "$path: $!";
    },
    add => sub { my (undef, $to, $added) = @_; $to->add(ref $added eq 'ARRAY' ? @$added : $added) },
    # On the event loop.
    answer => sub {
        my (undef, $chat, %options) = @_;
        my $stream = $chat->stream(%options);
        my %reply  = (text => '', reasoning => '', tool_calls => []);
        while (my $part = $stream->next->get) {
            if ($part->isa('Runcible::ToolCall')) { push @{ $reply{tool_calls} }, $part }
            elsif ($part->isa('Runcible::Reasoning')) { $reply{reasoning} .= $part }
            else { $reply{text} .= $part }
        }
        return { %reply, report => $stream->report };
    },
    logits => sub {
        my (undef, $session, $number) = @_;
        my $logits = $session->logits;
        my $row    = $logits->[$number];
        is(scalar(grep { @$_ != @$row } @$logits), 0, 'the lengths of rows');
        my ($largest) = sort { $row->[$b] <=> $row->[$a] } 0 .. $#$row;
        return { rows => scalar @$logits, vocabulary => scalar @$row, largest => $largest, sum => sum0(@$row) };
    },
    record => sub {
        my (undef, $class, $backend, $like, $ops, $outputs, $kept) = @_;
        return $class->record($backend, $like, sub {
            my @values = (@_, @{ $kept // [] });
            for my $op (@$ops) {
                my ($name, $x, @others) = @$op;
                push @values, $objects{recorded} = $values[$x]->$name(@values[@others]);
            }
            return @values[@$outputs];
        });
    },
    run_later  => sub { my (undef, $graph, @given) = @_; $graph->run_async(@given)->get },
    switch_later => sub { my (undef, $backend, @given) = @_; $backend->switch_async(@given)->get },
    open_later => sub {
        my (undef, $class, $spec) = @_;
        my @fractions;
        my $backend = $class->open_async($spec, progress => sub { push @fractions, @_ })->get;
        is($fractions[-1], 1, 'all is done');
        return $backend;
    },
    discover => sub { my ($devices, $automatic) = Runcible::discover();
        return { devices => $devices, automatic => $automatic } },
    discover_later => sub { my ($devices) = Runcible::discover_async()->get; return { devices => $devices } },
    'CustomOp.of' => sub { my (undef, $class, @options) = @_; $class->new(library => $ENV{RUNCIBLE_CUSTOM_OP}, @options) },
    'Pinned.of'   => sub {
        my (undef, $class, $values, $backend, $device) = @_;
        my $memory = $class->new($backend, 4 * @$values, $device);
        is(${ $memory->bytes }, "\0" x (4 * @$values), 'zero at first');
        $memory->write(pack 'f*', @$values);
        return $memory;
    },
    write_pinned  => sub { my (undef, $memory, $values) = @_; $memory->write(pack 'f*', @$values) },
    from_pinned   => sub { of_pinned('from_bytes', @_) },
    borrow_pinned => sub { of_pinned('borrow',     @_) },
    read_into     => sub { my (undef, $tensor, $memory) = @_; [unpack 'f*', ${ $tensor->read_into($memory->bytes) }] },
    drop          => sub { my (undef, undef, $name) = @_; $objects{$name}->close },
);

sub of_pinned {
    my ($make, undef, $class, $memory, $shape, $backend) = @_;
    return $class->$make($memory->bytes, $shape, 'f32', $backend);
}

# The report of the cases that passed; see bindings/README.md.
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
