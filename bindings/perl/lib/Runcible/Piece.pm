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

Used as a string, a piece is its text; it is always true. All pieces in order make the
whole text.

=head2 text

A string of characters.

=head2 tokens

A reference to an array: the tokens generated since the last piece.

=head2 logprobs

With the option C<logprobs>, a reference to an array of [token, natural logarithm of its
probability] for each token; else undef.

=head2 top_logprobs

With the same option, for each token the most probable tokens in its place, by falling
probability.

=cut

# Makes a part from an event that is not an end.
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

The parts of an answer of a conversation (see L<Runcible::Chat>) are pieces of text;
C<Runcible::Reasoning>, pieces of text that the model thinks before it answers; or
C<Runcible::ToolCall>, complete calls of a tool. A call has an C<id>, which its result
repeats as "tool_call_id", a C<name>, and C<arguments>, a reference to a hash.

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
