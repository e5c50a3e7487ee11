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

# What an event is that is no end.
sub part_of { my ($class, $event) = @_; return $event->[5]->of_event($event) }

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

=head1 OF ANSWERS

The parts of an answer of a conversation (see L<Runcible::Chat>) are pieces, too;
a C<Runcible::Reasoning>, a piece of what the model thinks before it answers; or a
C<Runcible::ToolCall>, a whole call of a tool, with its C<id>, which its result
names as "tool_call_id", its C<name>, and its C<arguments>, a reference to a hash.

=cut

package Runcible::Reasoning;

our @ISA = ('Runcible::Piece');

package Runcible::ToolCall;

use JSON::PP ();

sub of_event {
    my ($class, $event) = @_;
    my ($text, $name, $id) = @$event[1, 6, 7];
    my $arguments = JSON::PP->new->decode($text);
    return bless { id => $id, name => $name, arguments => $arguments }, $class;
}

sub id        { $_[0]{id} }
sub name      { $_[0]{name} }
sub arguments { $_[0]{arguments} }

1;
