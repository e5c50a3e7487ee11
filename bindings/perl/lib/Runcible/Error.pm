package Runcible::Error;

use strict;
use warnings;
use Errno ();
use overload
    '""'     => sub { $_[0]->message . $_[0]{where} },
    'bool'   => sub {1},
    fallback => 1;

=head1 NAME

Runcible::Error - errors of the library

=head1 SYNOPSIS

    use Runcible;
    eval { print $session->generate('Once', deadline => 0.1)->text; 1 } or do {
        my $error = $@;
        die $error unless ref $error && $error->isa('Runcible::Error');
        warn $error;    # the message, and where
        print $error->status, $error->message;
    };

=head1 DESCRIPTION

Exceptions are objects, of a class for each status of the library. The message
names the values concerned.

=head2 status

The number of the status, of a class or an object.

=head2 message

A description of the error.

=head2 report

The report of a generation that failed, see L<Runcible::Session>; else undef.

=head2 errno

The system's number of the error, as in C<$!>: ENOENT for a
Runcible::Error::NotFound, the number of the failed system call for a
Runcible::Error::IO; else undef.

=head2 retry_after

The seconds after which to try again; undef if that is not known.

=head2 throw(message)

Dies with a new object.

=head1 CLASSES

# :api: error_pod

=cut

my %class_of = (
    # :api: classes
);
my %status_of;
for my $status (keys %class_of) {
    no strict 'refs';
    my $class = $class_of{$status};
    @{"${class}::ISA"} = ('Runcible::Error');
    $status_of{$class} = $status;
}
# :api: bases

# Makes the exception of a status; an unknown status has the class Runcible::Error.
sub of_status {
    my ($class, $status, $message, $retry_after) = @_;
    return bless {
        status      => $status,
        message     => $message,
        retry_after => $retry_after,
        where       => $class->where,
    }, $class_of{$status} // 'Runcible::Error';
}

# Returns " at FILE line N." of the caller outside of these modules.
sub where {
    my $level = 0;
    $level++ while (caller $level)[0] && (caller $level)[0] =~ /^Runcible\b/;
    my (undef, $file, $line) = caller $level;
    return defined $file ? " at $file line $line.\n" : "\n";
}

sub throw {
    my ($class, $message) = @_;
    die Runcible::Error->of_status($class->status, $message);
}

sub status {
    my ($self) = @_;
    return ref $self ? $self->{status} : $status_of{$self} // 0;
}

# The numbers of the system's error texts; one of these ends the message of an IO error.
my %system_errors;

sub errno {
    my ($self) = @_;
    return Errno::ENOENT() if $self->isa('Runcible::Error::NotFound');
    return unless $self->isa('Runcible::Error::IO');
    if (!%system_errors) {
        local $!;
        for my $name (keys %!) {
            my $number = Errno->can($name)->();
            $! = $number;
            $system_errors{"$!"} = $number;
        }
    }
    my ($words) = $self->message =~ /([^:]*)\z/;
    $words =~ s/^ //;
    return $system_errors{$words} // Errno::EIO();
}

sub message     { $_[0]{message} }
sub report      { $_[0]{report} }
sub retry_after { $_[0]{retry_after} }

1;
