// ncurses declares its wide-character functions only with this.
#define _XOPEN_SOURCE_EXTENDED 1
#define _GNU_SOURCE
#include "ccurses.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

// The code that this file gives the beginning of a paste. Those of ncurses end soon after KEY_MAX.
#define KEY_PASTE 0x4000
#define WARNING_PAIR 1

struct ccurses_screen {
    SCREEN *screen;
    FILE *in, *out;
    // ncurses draws a window before it reads keys from it, but never a pad. Reading must not show the full screen.
    WINDOW *keys;
    bool has_mouse, has_colours, is_entered, takes_keys;
};

// tputs takes a function without context.
static char collected[1024];
static size_t collected_count;

static int collect(int byte) {
    if (collected_count < sizeof collected) collected[collected_count++] = (char)byte;
    return byte;
}

static void send_bytes(ccurses_screen *screen, const char *bytes, size_t count) {
    int output = fileno(screen->out);
    while (count > 0) {
        ssize_t written = write(output, bytes, count);
        if (written > 0) {
            bytes += written;
            count -= (size_t)written;
        } else if (written < 0 && errno == EAGAIN) {
            struct pollfd waiting = {.fd = output, .events = POLLOUT};
            poll(&waiting, 1, 1000);
        } else if (written == 0 || errno != EINTR) {
            // The terminal is gone; the next read shows it.
            return;
        }
    }
}

static void send_text(ccurses_screen *screen, const char *text) { send_bytes(screen, text, strlen(text)); }

static void send_collected(ccurses_screen *screen) {
    send_bytes(screen, collected, collected_count);
    collected_count = 0;
}

static const char *capability(const char *name) {
    const char *found = tigetstr(name);
    return found == (const char *)-1 ? NULL : found;
}

static void collect_capability(const char *sequence) {
    if (sequence != NULL) tputs(sequence, 1, collect);
}

static bool can_draw(const char *type, int output) {
    int status;
    // With a place for the status, setupterm does not end the process.
    if (setupterm(type, output, &status) != OK) return false;
    bool moves = capability("cup") != NULL;
    del_curterm(cur_term);
    return moves;
}

static void ignore(int number) { (void)number; }

// newterm replaces the default actions of these signals. It finds other actions here, and leaves them. Blocked,
// no signal meets the action of this function.
static SCREEN *new_screen(const char *type, FILE *out, FILE *in) {
    static const int signals[] = {SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
    enum { COUNT = sizeof signals / sizeof signals[0] };
    struct sigaction before[COUNT], here = {.sa_handler = ignore};
    sigset_t blocked, mask;
    sigemptyset(&blocked);
    sigemptyset(&here.sa_mask);
    for (int index = 0; index < COUNT; index++) sigaddset(&blocked, signals[index]);
    sigprocmask(SIG_BLOCK, &blocked, &mask);
    for (int index = 0; index < COUNT; index++) sigaction(signals[index], &here, &before[index]);
    SCREEN *screen = newterm(type, out, in);
    for (int index = 0; index < COUNT; index++) sigaction(signals[index], &before[index], NULL);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    return screen;
}

static FILE *stream(int descriptor, const char *mode) {
    int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    if (copy < 0) return NULL;
    FILE *opened = fdopen(copy, mode);
    if (opened == NULL) close(copy);
    return opened;
}

static bool prepare(ccurses_screen *screen, bool colours) {
    screen->keys = newpad(1, 1);
    if (screen->keys == NULL) return false;
    cbreak();
    noecho();
    nonl();
    set_escdelay(50);
    // A prompt must be drawn in full, also if input waits.
    typeahead(-1);
    curs_set(0);
    screen->has_colours = colours && has_colors() && start_color() == OK && use_default_colors() == OK
        && init_pair(WARNING_PAIR, COLOR_YELLOW, -1) == OK;
    screen->has_mouse = capability("kmous") != NULL;
    // This reads the terminal's keys from terminfo, which later definitions change.
    keypad(screen->keys, TRUE);
    // The mouse's sequences are not read by ncurses: it would wait without limit for the rest of an incomplete one,
    // and on the Linux console it would load libgpm.
    define_key(NULL, KEY_MOUSE);
    // Because of this key, ncurses waits after an ESC on every terminal.
    return define_key("\033[200~", KEY_PASTE) == OK;
}

ccurses_screen *ccurses_open(const char *type, int input, int output, bool colours, enum ccurses_failure *failure) {
    // Never the person's locale: the agent draws UTF-8.
    if (setlocale(LC_CTYPE, "C.UTF-8") == NULL) {
        *failure = CCURSES_NO_LOCALE;
        return NULL;
    }
    use_env(FALSE);
    use_tioctl(TRUE);
    if (!can_draw(type, output)) {
        *failure = CCURSES_TOO_SIMPLE;
        return NULL;
    }
    *failure = CCURSES_NO_MEMORY;
    ccurses_screen *screen = calloc(1, sizeof *screen);
    if (screen == NULL) return NULL;
    screen->in = stream(input, "r");
    screen->out = stream(output, "w");
    if (screen->in != NULL && screen->out != NULL) screen->screen = new_screen(type, screen->out, screen->in);
    if (screen->screen != NULL && prepare(screen, colours)) {
        // newterm shows the full screen.
        endwin();
        return screen;
    }
    ccurses_close(screen);
    return NULL;
}

void ccurses_close(ccurses_screen *screen) {
    if (screen->screen != NULL) {
        ccurses_leave(screen);
        ccurses_take_keys(screen, false);
        // A second end would move the cursor.
        if (!isendwin()) endwin();
        if (screen->keys != NULL) delwin(screen->keys);
        delscreen(screen->screen);
    }
    if (screen->in != NULL) fclose(screen->in);
    if (screen->out != NULL) fclose(screen->out);
    free(screen);
}

static void report_mouse(ccurses_screen *screen, bool reported) {
    if (screen->has_mouse) send_text(screen, reported ? "\033[?1000h\033[?1006h" : "\033[?1006l\033[?1000l");
}

void ccurses_enter(ccurses_screen *screen) {
    screen->is_entered = true;
    erase();
    clearok(curscr, TRUE);
    refresh();
    report_mouse(screen, true);
}

void ccurses_leave(ccurses_screen *screen) {
    if (!screen->is_entered) return;
    screen->is_entered = false;
    report_mouse(screen, false);
    endwin();
}

void ccurses_restore_settings(ccurses_screen *screen) {
    (void)screen;
    reset_prog_mode();
}

void ccurses_take_keys(ccurses_screen *screen, bool taken) {
    if (screen->takes_keys == taken) return;
    screen->takes_keys = taken;
    keypad(screen->keys, taken);
    send_text(screen, taken ? "\033[?2004h" : "\033[?2004l");
}

void ccurses_resize(ccurses_screen *screen, int height, int width) {
    (void)screen;
    // Unlike resizeterm, this does not add a key to the input.
    if (height != getmaxy(stdscr) || width != getmaxx(stdscr)) resize_term(height, width);
}

void ccurses_erase(ccurses_screen *screen) {
    (void)screen;
    erase();
}

static attr_t attributes(enum ccurses_style style) {
    switch (style) {
    case CCURSES_PLAIN: return A_NORMAL;
    case CCURSES_BOLD:
    case CCURSES_WARNING: return A_BOLD;
    case CCURSES_DIM: return A_DIM;
    case CCURSES_REVERSE: return A_REVERSE;
    case CCURSES_UNDERLINE: return A_BOLD | A_UNDERLINE;
    }
    return A_NORMAL;
}

static short colour(const ccurses_screen *screen, enum ccurses_style style) {
    return screen->has_colours && style == CCURSES_WARNING ? WARNING_PAIR : 0;
}

static bool is_isolate(wchar_t scalar) { return scalar >= 0x2066 && scalar <= 0x2069; }

// Adds a scalar without width to a cell. A full cell loses marks, but no isolate, whose loss would change the
// direction of the text around it.
static void combine(wchar_t cell[CCHARW_MAX + 1], wchar_t scalar) {
    size_t count = wcslen(cell);
    if (count < CCHARW_MAX) {
        cell[count] = scalar;
        cell[count + 1] = 0;
        return;
    }
    if (!is_isolate(scalar)) return;
    for (size_t index = count - 1; index > 0; index--) {
        if (is_isolate(cell[index])) continue;
        wmemmove(cell + index, cell + index + 1, count - index - 1);
        cell[count - 1] = scalar;
        return;
    }
}

int ccurses_put(
    ccurses_screen *screen, int row, int column, const uint32_t *scalars, size_t count, enum ccurses_style style
) {
    int height, width;
    getmaxyx(stdscr, height, width);
    if (row < 0 || row >= height || column < 0) return column;
    size_t index = 0;
    while (index < count) {
        wchar_t cell[CCHARW_MAX + 1] = {(wchar_t)scalars[index++], 0};
        int taken = wcwidth(cell[0]);
        if (taken == 0) continue;
        // wcwidth knows no width for control characters and unassigned scalars.
        if (taken < 0) {
            cell[0] = 0xFFFD;
            taken = 1;
        }
        if (column + taken > width) return column;
        while (index < count && scalars[index] != 0 && wcwidth((wchar_t)scalars[index]) == 0) {
            combine(cell, (wchar_t)scalars[index++]);
        }
        cchar_t drawn;
        // This does not move on to the next row, and interprets no character.
        if (setcchar(&drawn, cell, attributes(style), colour(screen, style), NULL) == OK) {
            mvadd_wchnstr(row, column, &drawn, 1);
        }
        column += taken;
    }
    return column;
}

// Resets what another program may have changed: styles and the character set, insert mode, the scroll region, the
// cursor's place, and what the terminal reports.
static void reset_modes(ccurses_screen *screen) {
    // G0 is ASCII; most entries of terminfo assume that nobody has changed it (ISO 2022).
    send_text(screen, "\033(B");
    collect_capability(capability("sgr0"));
    collect_capability(capability("rmir"));
    const char *region = capability("csr");
    if (region != NULL) collect_capability(tparm((char *)region, 0, getmaxy(stdscr) - 1, 0, 0, 0, 0, 0, 0, 0));
    send_collected(screen);
    if (screen->takes_keys) send_text(screen, "\033[?2004h");
    report_mouse(screen, true);
    // ncurses assumes that the cursor is where it left it. mvcur would write to standard output.
    collect_capability(tparm((char *)capability("cup"), getcury(curscr), getcurx(curscr), 0, 0, 0, 0, 0, 0, 0));
    send_collected(screen);
}

void ccurses_show(ccurses_screen *screen, bool clearing) {
    if (!screen->is_entered) return;
    reset_modes(screen);
    if (clearing) {
        clearok(curscr, TRUE);
    } else {
        redrawwin(stdscr);
    }
    refresh();
}

void ccurses_say(ccurses_screen *screen, const char *text, size_t count, enum ccurses_style style) {
    vid_puts(attributes(style), colour(screen, style), NULL, collect);
    send_collected(screen);
    send_bytes(screen, text, count);
    vid_puts(A_NORMAL, 0, NULL, collect);
    send_collected(screen);
}

void ccurses_say_line_end(ccurses_screen *screen) { send_text(screen, "\r\n"); }

int ccurses_next(ccurses_screen *screen, int milliseconds) {
    wtimeout(screen->keys, milliseconds);
    int input = wgetch(screen->keys);
    if (input == ERR) return -1;
    if (input >= 0 && input < 256) return input;
    switch (input) {
    case KEY_UP: return CCURSES_UP;
    case KEY_DOWN: return CCURSES_DOWN;
    case KEY_LEFT: return CCURSES_LEFT;
    case KEY_RIGHT: return CCURSES_RIGHT;
    case KEY_PPAGE:
    case KEY_A3: return CCURSES_PAGE_UP;
    case KEY_NPAGE:
    case KEY_C3: return CCURSES_PAGE_DOWN;
    case KEY_HOME:
    case KEY_FIND:
    case KEY_A1: return CCURSES_HOME;
    case KEY_END:
    case KEY_SELECT:
    case KEY_C1: return CCURSES_END;
    case KEY_BTAB: return CCURSES_BACK_TAB;
    case KEY_DC: return CCURSES_DELETE;
    case KEY_BACKSPACE: return CCURSES_BACKSPACE;
    case KEY_ENTER: return CCURSES_ENTER;
    case KEY_PASTE: return CCURSES_PASTE;
    default: return CCURSES_OTHER;
    }
}

void ccurses_discard_input(ccurses_screen *screen) {
    (void)screen;
    flushinp();
}
