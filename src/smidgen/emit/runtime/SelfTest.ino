/*
 * A few rows, and the scores that Python gives for them: prints PASS, or the first row that differs, and how long a
 * prediction takes. Open the serial monitor at 115,200 baud.
 */
#include <SMIDGEN_NAME.h>

#define N_ROWS SMIDGEN_N_ROWS

static const smidgen_input_t rows[N_ROWS][smidgen_N_FEATURES] PROGMEM = {
SMIDGEN_ROWS
};

static const smidgen_score_t scores[N_ROWS][smidgen_N_SCORES] PROGMEM = {
SMIDGEN_SCORES
};

static smidgen_input_t row[smidgen_N_FEATURES];
static smidgen_score_t given[smidgen_N_SCORES];

static bool isSame(uint8_t r)
{
  for (uint16_t i = 0; i < smidgen_N_SCORES; ++i) {
    smidgen_score_t expected, found = given[i];
    memcpy_P(&expected, &scores[r][i], sizeof expected);
    if (!(SMIDGEN_SAME)) {
      return false;
    }
  }
  return true;
}

void setup()
{
  unsigned long began, micros_in_all = 0;
  uint8_t r;
  Serial.begin(115200);
  for (r = 0; r < N_ROWS; ++r) {
    memcpy_P(row, rows[r], sizeof row);
    began = micros();
    smidgen_scores(row, given);
    micros_in_all += micros() - began;
    if (!isSame(r)) {
      break;
    }
  }
  if (r == N_ROWS) {
    Serial.println(F("PASS"));
  } else {
    Serial.print(F("FAIL: row "));
    Serial.print(r);
    Serial.println(F(" gives other scores than Python"));
  }
  Serial.print(micros_in_all / (r < N_ROWS ? r + 1 : N_ROWS));
  Serial.println(F(" microseconds a row"));
}

void loop() {}
