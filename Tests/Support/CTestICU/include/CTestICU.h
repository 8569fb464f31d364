#ifndef CONTACTBROKER_CTESTICU_H
#define CONTACTBROKER_CTESTICU_H

/* The name of the locale with this index, counted from 0, if ICU's collation data tailor the root order for it, and an
   empty text if they do not or if it takes its order from another locale. NULL after the last locale. */
const char *test_tailored_locale(int index);

#endif
