package Runcible::Piece;

use strict;
use warnings;
use overload
    '""'     => sub { $_[0]{text} },
    'bool'   => sub {1},
    fallback => 1;

=head1 NAME

Runcible::Piece - text that became certain

=head1 DESCRIPTION

Stands for its text where a string is wanted, and is always true. All pieces one
after the other are the whole text.

=head2 text

A string of characters.

=head2 tokens

A reference to an array: the tokens generated since the last piece.

=head2 logprobs

With the option C<logprobs>, [token, natural logarithm of its probability] of each
token; else undef.

=head2 top_logprobs

With the same option, the most probable tokens in the place of each, by falling
probability.

=cut

sub of_event {
    my ($class, $event) = @_;
    my %self;
    @self{qw(text tokens logprobs top_logprobs)} = @$event[1 .. 4];
    return bless \%self, $class;
}

sub text         { $_[0]{text} }
sub tokens       { $_[0]{tokens} }
sub logprobs     { $_[0]{logprobs} }
sub top_logprobs { $_[0]{top_logprobs} }

1;
