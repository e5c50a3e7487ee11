// A system that starts no more threads.
#pragma once

namespace rc::test {

// From now on so many threads can be started; negative: any number.
void allow_threads(int count);

}  // namespace rc::test
