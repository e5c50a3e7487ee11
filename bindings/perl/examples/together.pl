#!/usr/bin/perl
# Generates two texts at once on an IO::Async event loop: perl together.pl
use strict;
use warnings;
use Future;
use Runcible;

binmode STDOUT, ':encoding(UTF-8)';
my $model = Runcible::Model->new('builtin:fable');
my @tales = map {
    $model->session->stream($_, echo => 1, max_tokens => 60)->text
} 'A fox', 'A goose';
print "$_\n\n" for Future->needs_all(@tales)->get;
