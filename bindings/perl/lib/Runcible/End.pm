package Runcible::End;

# The end of a request, for the other modules here.
use strict;
use warnings;
use Runcible::Error;
use Runcible::Report;

# Returns (report, exception or undef) of an event.
sub of_event {
    my ($class, $event) = @_;
    my (undef, undef, $status, $message, $numbers) = @$event;
    my $report = Runcible::Report->generation($numbers);
    return $report if $status == $Runcible::Native::OK;
    $message = 'the request ended: ' . $report->reason if $message eq '';
    my $error = Runcible::Error->of_status($status, $message);
    $error->{report} = $report;
    return ($report, $error);
}

1;
