#ifndef CONTACTBROKER_CCURSES_H
#define CONTACTBROKER_CCURSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The parts of ncursesw that contact-agent needs. No header of ncurses is included here, because its macros, such
 * as `lines` and `OK`, would break other headers.
 *
 * No function ends the process, reads the environment, or changes how the process handles signals. If the terminal
 * is gone, nothing is drawn and no input comes. Only one thread may use a screen, and a process may have one.
 */

typedef struct ccurses_screen ccurses_screen;

enum ccurses_failure {
    CCURSES_NO_MEMORY = 1,
    /* The system lacks the locale C.UTF-8, without which ncurses draws ASCII only. */
    CCURSES_NO_LOCALE,
    /* terminfo does not know the terminal, or it cannot move its cursor. */
    CCURSES_TOO_SIMPLE,
};

enum ccurses_style {
    CCURSES_PLAIN,
    CCURSES_BOLD,
    CCURSES_DIM,
    /* Bold, and yellow if the screen has colours. */
    CCURSES_WARNING,
    CCURSES_REVERSE,
    CCURSES_UNDERLINE,
};

/*
 * What ccurses_next returns: -1 for nothing, a byte (0 to 255) that belongs to no key of the terminal's terminfo
 * entry, or one of these.
 */
enum ccurses_key {
    CCURSES_UP = 256,
    CCURSES_DOWN,
    CCURSES_LEFT,
    CCURSES_RIGHT,
    CCURSES_PAGE_UP,
    CCURSES_PAGE_DOWN,
    CCURSES_HOME,
    CCURSES_END,
    CCURSES_BACK_TAB,
    CCURSES_DELETE,
    CCURSES_BACKSPACE,
    CCURSES_ENTER,
    /* The sequence that begins a paste (xterm, bracketed paste mode). */
    CCURSES_PASTE,
    /* Another key of the terminal. */
    CCURSES_OTHER,
};

/*
 * Opens a screen of this terminal type. The full screen is not shown until ccurses_enter. ncurses restores the
 * settings that the terminal has now whenever the full screen is left.
 *
 * `input` must not block. Both descriptors are duplicated. Returns NULL and sets `failure` if this fails.
 */
ccurses_screen *ccurses_open(const char *type, int input, int output, bool colours, enum ccurses_failure *failure);

/* Leaves the full screen and frees the screen. The terminal has the settings from before ccurses_open. */
void ccurses_close(ccurses_screen *screen);

/* Shows an empty full screen and reports the mouse. */
void ccurses_enter(ccurses_screen *screen);
/* Restores the screen, the cursor and the settings from before ccurses_enter. */
void ccurses_leave(ccurses_screen *screen);
/* Sets the terminal again to what the full screen needs, after another program changed its settings. */
void ccurses_restore_settings(ccurses_screen *screen);
/* Begins or ends the marking of pastes, and the sequences of the keypad. */
void ccurses_take_keys(ccurses_screen *screen, bool taken);

void ccurses_resize(ccurses_screen *screen, int height, int width);

/* Empties the picture that the next ccurses_show draws. */
void ccurses_erase(ccurses_screen *screen);
/*
 * Puts text into the picture, cut at the end of the row. A control character becomes U+FFFD; marks without a
 * character before them are dropped. Returns the column after the text.
 */
int ccurses_put(
    ccurses_screen *screen, int row, int column, const uint32_t *scalars, size_t count, enum ccurses_style style);
/*
 * Draws the whole picture, whatever another program has drawn or set on the terminal. `clearing` erases the screen
 * first, which flickers.
 */
void ccurses_show(ccurses_screen *screen, bool clearing);

/* Writes text at the cursor while the full screen is left. The text must not contain control characters. */
void ccurses_say(ccurses_screen *screen, const char *text, size_t count, enum ccurses_style style);
void ccurses_say_line_end(ccurses_screen *screen);

/* Returns the next input (see ccurses_key), and waits up to `milliseconds` for it. */
int ccurses_next(ccurses_screen *screen, int milliseconds);
/* Discards unread input. */
void ccurses_discard_input(ccurses_screen *screen);

#endif
