package Runcible::Chat;

use strict;
use warnings;
use parent 'Runcible::Handle';
use JSON::PP ();
use Runcible::Answer;
use Runcible::Arguments 'refuse';
use Runcible::JSONText 'json_text';

=head1 NAME

Runcible::Chat - a conversation: a list of messages over a session

=head1 SYNOPSIS

    my $chat  = $session->chat(template_name => 'zephyr');
    my $reply = $chat->ask('Tell me a fable.', max_tokens => 60);
    print $reply->{text};

    my $answer = $chat->answer(max_tokens => 60);
    while (my $part = <$answer>) {
        print $part->isa('Runcible::ToolCall') ? $part->name : $part;
    }

=head1 DESCRIPTION

An answer of the model becomes one of the messages. For each answer only the part that
the session does not hold yet is evaluated, also after messages were removed. To keep a
conversation, keep its session and its messages.

The options of C<< $session->chat >> are

=over

=item tools

The functions that the model may call, a reference to an array in the shape of
"tools" of OpenAI's chat completions.

=item template_name

The name of a chat template: a variant in the file, or a well-known template for files
that have none ("chatml", "llama3", "zephyr", ...).

=item template_text

The source of a chat template, in place of a name.

=item template_arguments

More variables for the template, a reference to a hash.

=item thinking

For models that can do both: whether to think before they answer.

=item now

The current time for templates that write the date: "2024-07-26" or
"2024-07-26T14:05:09".

=back

It throws Runcible::Error::InvalidArgument if an option is wrong, NotFound if there is no
such template or the file has none, Unsupported if the model has no tokenizer or its
template has no place for tools, and Format if the template has a mistake.

=cut

my %setters = map { $_ => Runcible::Native->can("chat_options_set_$_") }
    qw(tools template_name template_text template_arguments now);

sub _options {
    my (%options) = @_;
    my $made     = Runcible::Native::new_chat_options();
    my $thinking = delete $options{thinking};
    Runcible::Native::chat_options_thinking_set($made, $thinking ? 1 : 0)
        if defined $thinking;
    for my $name (sort keys %options) {
        my $set = $setters{$name}
            or refuse("there is no option '$name', but " . join ', ',
            sort 'thinking', keys %setters);
        my $value = $options{$name};
        $set->($made, json_text($value, $name));
    }
    return $made;
}

=head2 add(messages...)

Adds references to hashes in the shape of "messages" of OpenAI's chat completions; a
string is a message of the user. Returns the conversation. Throws
Runcible::Error::InvalidArgument or Unsupported if a message is malformed, naming its
place; no message is added then. Throws Busy while an answer is under way.

=cut

sub add {
    my ($self, @messages) = @_;
    my @given = map { ref $_ ? $_ : { role => 'user', content => $_ } } @messages;
    Runcible::Native::chat_add($self->_idle, json_text(\@given, 'messages'));
    return $self;
}

=head2 undo(count)

The count is 1 by default.

=for header rc_chat_undo

=cut

sub undo {
    my ($self, $count) = @_;
    Runcible::Native::chat_undo($self->_idle, $count // 1);
    return $self;
}

=head2 messages

Returns a reference to an array of all messages. Throws Runcible::Error::Busy while an
answer is under way.

=cut

sub messages {
    my ($self) = @_;
    return JSON::PP->new->utf8->decode(Runcible::Native::chat_messages($self->_idle));
}

=head2 fork

=for header rc_chat_fork

=cut

sub fork {
    my ($self) = @_;
    return ref($self)->of(Runcible::Native::chat_fork($self->_idle),
        generations => []);
}

=head2 answer(options...)

Lets the model answer, and returns a L<Runcible::Answer>; the options are those of
C<< $session->generate >>.

=head2 stream(options...)

The same on an IO::Async event loop: returns a L<Runcible::Stream> of parts.

=head2 ask(text, options...)

Adds a message of the user, unless it is undef, and returns the whole answer: a
reference to a hash with C<text>, C<reasoning>, C<tool_calls> and C<report>.

=cut

sub answer {
    my ($self, %options) = @_;
    my $made   = Runcible::Session::_generate_options(undef, %options);
    my $answer = Runcible::Answer->_start(
        Runcible::Native::answer_start($self->_idle, $made));
    return Runcible::Session::_note($self->{generations}, $answer);
}

sub stream {
    my ($self, %options) = @_;
    require Runcible::Stream;
    my $loop  = delete $options{loop};
    my $made  = Runcible::Session::_generate_options(undef, %options);
    my $proxy = $self->_idle;
    return Runcible::Stream->_start($loop,
        sub { Runcible::Native::mailbox_answer($_[0], $proxy, $made, $_[1]) });
}

sub ask {
    my ($self, $text, %options) = @_;
    $self->add($text) if defined $text;
    return $self->answer(%options)->reply;
}

# Returns the proxy for calls that must not run during an answer.
sub _idle {
    my ($self) = @_;
    my $proxy = $self->proxy;
    Runcible::Session::_leave($self->{generations});
    return $proxy;
}

1;
