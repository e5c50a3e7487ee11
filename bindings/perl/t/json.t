# Schemas, tools, choices and messages as references.
use strict;
use warnings;
use utf8;
use JSON::PP ();
use Test::More;
use Runcible;

{
    package Sky;
    sub json_schema { $_[0]{schema} }
    package Written;
    sub TO_JSON { $_[0]{schema} }
    package Ordered;
    sub TIEHASH { bless { at => 0, keys => [qw(sky clouds)] }, shift }
    sub FETCH { { sky => { const => 'gréy' }, clouds => { type => 'integer', const => 2 } }->{ $_[1] } }
    sub FIRSTKEY { $_[0]{at} = 0; $_[0]->NEXTKEY }
    sub NEXTKEY { $_[0]{keys}[$_[0]{at}++] }
    sub EXISTS { 1 }
    sub SCALAR { 2 }
}

my $model  = Runcible::Model->new('builtin:fable', 'cpu');
my $schema = {
    type       => 'object', required => [qw(clouds sky)],
    properties => { clouds => { type => 'integer', const => 2 }, sky => { const => 'gréy' } },
};
tie my %ordered, 'Ordered';
my %schemas = (
    'a hash'          => $schema,
    'a text'          => JSON::PP->new->encode($schema),
    'json_schema'     => bless({ schema => $schema }, 'Sky'),
    'TO_JSON'         => bless({ schema => $schema }, 'Written'),
    'a tied hash'     => { %$schema, properties => \%ordered, required => [qw(sky clouds)] },
);
my $sky = { clouds => 2, sky => 'gréy' };

sub chat { $model->session->chat(template_name => 'zephyr') }

for my $name (sort keys %schemas) {
    my $given   = $schemas{$name};
    my $grammar = Runcible::Grammar->json_schema($model, $given);
    my $text    = $model->session->generate('A', grammar => $grammar)->text;
    is_deeply(JSON::PP->new->decode($text), $sky, "a grammar of $name");
    like($text, qr/^\{"sky"/, 'the order of a tied hash') if $name eq 'a tied hash';
    like($text, qr/^\{"clouds"/, 'the order of names') if $name eq 'a hash';
    my $inner   = ref $given ? $given : JSON::PP->new->decode($given);
    my @formats = { type => 'json_schema', json_schema => { name => 'sky', schema => $inner } };
    push @formats, $given if $name eq 'json_schema';
    for my $format (@formats) {
        my $reply = chat()->ask('How is it?', response_format => $format);
        is_deeply(JSON::PP->new->decode($reply->{text}), $sky, "a format of $name");
    }
}

subtest 'errors name the argument' => sub {
    my $chat = chat();
    $chat->add('a');
    my $circle = {};
    $circle->{circle} = $circle;
    for my $bad ($circle, sub { }, bless({}, 'Nothing'), 9**9**9) {
        my $within = { a => [$bad] };
        my %wrong  = (
            response_format => sub { $chat->answer(response_format => $within) },
            tool_choice     => sub { $chat->answer(tool_choice => $within) },
            messages        => sub { $chat->add({ role => 'user', content => $bad }) },
            schema          => sub { Runcible::Grammar->json_schema($model, $within) },
            tools           => sub {
                $model->session->chat(template_name => 'zephyr', tools => [$within]);
            },
        );
        for my $name (sort keys %wrong) {
            my $lived = eval { $wrong{$name}->(); 1 };
            ok(!$lived && ref $@ eq 'Runcible::Error::InvalidArgument', $name) or diag $@;
            like("$@", qr/^\Q$name\E: /, 'its message');
        }
    }
    undef $circle->{circle};
};

done_testing;
