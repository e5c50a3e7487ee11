package Runcible::Answer;

use strict;
use warnings;
use parent 'Runcible::Generation';

=head1 NAME

Runcible::Answer - the parts of an answer as they come

=head1 DESCRIPTION

A L<Runcible::Generation> whose parts are pieces of text, C<Runcible::Reasoning> or
C<Runcible::ToolCall>; see L<Runcible::Piece>. When it has ended, all that was generated
is a message of the conversation.

=head2 reply

Reads the rest: returns a reference to a hash with C<text>, C<reasoning>, C<tool_calls>
and C<report>, whose reason is "tool calls" if there are calls.

=head2 text

Reads the rest, and returns its text alone.

=cut

sub reply {
    my ($self) = @_;
    my %reply = (text => '', reasoning => '', tool_calls => []);
    while (my $part = $self->next) {
        if ($part->isa('Runcible::ToolCall')) {
            push @{ $reply{tool_calls} }, $part;
        }
        else {
            $reply{ $part->isa('Runcible::Reasoning') ? 'reasoning' : 'text' } .= $part;
        }
    }
    $reply{report} = $self->report;
    return \%reply;
}

sub text { $_[0]->reply->{text} }

1;
