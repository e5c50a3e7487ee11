"""Threads that share models, sessions and generations."""

import threading

import pytest

from runcible import errors


def test_another_thread_may_cancel(model):
    generation = model.session(when_full="shift").generate("A", ignore_eos=True)
    next(generation)
    thread = threading.Thread(target=generation.cancel)
    thread.start()
    with pytest.raises(errors.CancelledError):
        for _ in generation:
            pass
    thread.join()


def test_threads_generate_at_once(model):
    texts = {}

    def generate(seed):
        texts[seed] = "".join(
            model.session().generate("A", seed=seed, max_tokens=20)
        )

    threads = [threading.Thread(target=generate, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed, text in texts.items():
        again = model.session().generate("A", seed=seed, max_tokens=20)
        assert "".join(again) == text
    assert len(texts) == 8


def test_threads_share_a_generation(model):
    generation = model.session(when_full="shift").generate(
        "A", ignore_eos=True, max_tokens=200
    )
    pieces, refused = [], []

    def read():
        while True:
            try:
                pieces.append(next(generation))
            except StopIteration:
                return
            except ValueError as error:
                refused.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(len(piece.tokens) for piece in pieces) == 200


def test_a_generation_that_another_thread_reads_is_not_left(model):
    session = model.session(when_full="shift")
    generation = session.generate("A", ignore_eos=True)
    thread = threading.Thread(target=lambda: next(generation))
    thread.start()
    thread.join()
    with pytest.raises(errors.BusyError):
        session.append("B")
    next(generation)
    session.append("B")


def test_losing_a_generation_waits_for_its_end(model):
    session = model.session(when_full="shift")
    for _ in range(20):
        for _ in session.generate("A", ignore_eos=True):
            break
        # A thread uses the session that has not read it, so that nothing else ends it.
        failures = []

        def use():
            try:
                session.append("B")
            except errors.BusyError as failure:
                failures.append(failure)

        thread = threading.Thread(target=use)
        thread.start()
        thread.join()
        assert not failures


def test_a_session_may_be_closed_while_another_thread_uses_it(model):
    session = model.session()

    def work():
        try:
            for _ in range(20):
                session.append([5])
                session.decode()
                session.truncate(0)
        except errors.ClosedError:
            pass

    thread = threading.Thread(target=work)
    thread.start()
    session.close()
    thread.join()


def test_logits_may_be_read_while_another_thread_decodes(model):
    session = model.session()
    session.append([5, 6, 7])
    session.decode(all_logits=True)

    def work():
        for token in range(50):
            session.append([token])
            session.decode(all_logits=True)

    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive():
        try:
            assert session.logits().shape[1] == 2048
        except errors.NotFoundError:
            pass  # between appending and decoding
    thread.join()
