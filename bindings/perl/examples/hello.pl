#!/usr/bin/perl
# Writes a text as it comes: perl hello.pl [beginning]
use strict;
use warnings;
use Runcible;

$| = 1;
binmode STDOUT, ':encoding(UTF-8)';
my $beginning = shift // 'Once upon a time';
my $session   = Runcible::Model->new('builtin:fable')->session;
my $tale      = $session->generate($beginning, echo => 1, max_tokens => 100);
while (my $piece = <$tale>) { print $piece }
print "\n";
warn $tale->report->generated_tokens, ' tokens, ', $tale->report->reason, "\n";
