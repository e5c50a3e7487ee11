// The filters by what they work on; filters.cc has the table of their names.
#pragma once

#include "text/chat/builtins.h"

namespace rc::text::chat {

// Of texts.
Value filter_capitalize(Call& call);
Value filter_center(Call& call);
Value filter_escape(Call& call);
Value filter_forceescape(Call& call);
Value filter_format(Call& call);
Value filter_indent(Call& call);
Value filter_lower(Call& call);
Value filter_replace(Call& call);
Value filter_safe(Call& call);
Value filter_string(Call& call);
Value filter_striptags(Call& call);
Value filter_title(Call& call);
Value filter_tojson(Call& call);
Value filter_trim(Call& call);
Value filter_truncate(Call& call);
Value filter_upper(Call& call);
Value filter_urlencode(Call& call);
Value filter_wordcount(Call& call);
Value filter_wordwrap(Call& call);
Value filter_xmlattr(Call& call);

// Of numbers and anything.
Value filter_abs(Call& call);
Value filter_attr(Call& call);
Value filter_default(Call& call);
Value filter_filesizeformat(Call& call);
Value filter_float(Call& call);
Value filter_int(Call& call);
Value filter_length(Call& call);
Value filter_round(Call& call);

// Of lists and dictionaries.
Value filter_batch(Call& call);
Value filter_dictsort(Call& call);
Value filter_first(Call& call);
Value filter_groupby(Call& call);
Value filter_items(Call& call);
Value filter_join(Call& call);
Value filter_last(Call& call);
Value filter_list(Call& call);
Value filter_max(Call& call);
Value filter_min(Call& call);
Value filter_reverse(Call& call);
Value filter_slice(Call& call);
Value filter_sort(Call& call);
Value filter_sum(Call& call);
Value filter_unique(Call& call);

// Of the elements that come out of others.
Value filter_map(Call& call);
Value filter_reject(Call& call);
Value filter_rejectattr(Call& call);
Value filter_select(Call& call);
Value filter_selectattr(Call& call);

}  // namespace rc::text::chat
