/* Runcible: all public headers but plugin.h and op_backend.h. */
#ifndef RUNCIBLE_RUNCIBLE_H
#define RUNCIBLE_RUNCIBLE_H

#include "runcible/backend.h"
#include "runcible/base.h"
#include "runcible/chat.h"
#include "runcible/config.h"
#include "runcible/convert.h"
#include "runcible/custom_op.h"
#include "runcible/embed.h"
#include "runcible/evaluate.h"
#include "runcible/fetch.h"
#include "runcible/generate.h"
#include "runcible/grammar.h"
#include "runcible/graph.h"
#include "runcible/loop.h"
#include "runcible/model.h"
#include "runcible/op.h"
#include "runcible/session.h"
#include "runcible/tenant.h"
#include "runcible/tensor.h"
#include "runcible/types.h"

#endif /* RUNCIBLE_RUNCIBLE_H */
