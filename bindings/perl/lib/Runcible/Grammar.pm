package Runcible::Grammar;

use strict;
use warnings;
use parent 'Runcible::Handle';
use Scalar::Util 'blessed';
use Runcible::Arguments qw(proxy_of refuse set_options);
use Runcible::JSONText 'json_text';

=head1 NAME

Runcible::Grammar - a limit on generated texts, by a schema, an expression or rules

=head1 SYNOPSIS

    my $grammar = Runcible::Grammar->regex($model, '[A-Z][a-z]+');
    print $session->generate('Who?', grammar => $grammar)->text;

=head1 DESCRIPTION

=for header rc_grammar

=for header rc_grammar_create

The first argument of these functions is a Runcible::Tokenizer or a Runcible::Model.

=head2 json_schema(tokenizer, schema, options...)

The schema is a reference to a hash, JSON, or an object that has a method
C<json_schema> or C<TO_JSON>. Its properties are in the order of their names; a tied
hash such as Tie::IxHash keeps its order.

=for header RC_GRAMMAR_JSON_SCHEMA

=for header rc_grammar_options

=head2 regex(tokenizer, expression)

=for header RC_GRAMMAR_REGEX

=head2 gbnf(tokenizer, rules)

=for header RC_GRAMMAR_GBNF

=head2 lark(tokenizer, rules)

=for header RC_GRAMMAR_LARK

=head2 choices(tokenizer, choices)

Allows exactly one of the texts in an array, given by reference.

=cut

sub json_schema {
    my ($class, $tokenizer, $schema, %options) = @_;
    my $text = json_text($schema, 'schema');
    return $class->_make($tokenizer, $Runcible::Native::GRAMMAR_JSON_SCHEMA, $text,
        %options);
}

sub regex {
    my ($class, $tokenizer, $expression) = @_;
    return $class->_make($tokenizer, $Runcible::Native::GRAMMAR_REGEX, $expression);
}

sub gbnf {
    my ($class, $tokenizer, $rules) = @_;
    return $class->_make($tokenizer, $Runcible::Native::GRAMMAR_GBNF, $rules);
}

sub lark {
    my ($class, $tokenizer, $rules) = @_;
    return $class->_make($tokenizer, $Runcible::Native::GRAMMAR_LARK, $rules);
}

sub choices {
    my ($class, $tokenizer, $choices) = @_;
    ref $choices eq 'ARRAY' or refuse('choices must be a reference to an array');
    my $texts = Runcible::Native::new_text_list();
    Runcible::Native::text_list_add($texts, $_) for @$choices;
    return $class->of(
        Runcible::Native::grammar_of_choices(_tokenizer($tokenizer), $texts));
}

sub _make {
    my ($class, $tokenizer, $kind, $text, %options) = @_;
    my $made = set_options('grammar_options', \%options);
    return $class->of(
        Runcible::Native::grammar_create(_tokenizer($tokenizer), $kind, $text, $made));
}

sub _tokenizer {
    my ($given) = @_;
    $given = $given->tokenizer if blessed $given && $given->isa('Runcible::Model');
    return proxy_of($given, 'Runcible::Tokenizer', 'tokenizer');
}

1;
