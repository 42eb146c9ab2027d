/*
 * Answers rows that come over Serial, at 115,200 baud: smidgen_N_FEATURES numbers a row, with commas, spaces or line
 * ends between them. Every number is taken as it comes, so a row may be longer than the 63 bytes that Serial can
 * hold; but send the next row only after the answer, since nothing is taken while the model computes.
 */
#include <SMIDGEN_NAME.h>

static smidgen_input_t row[smidgen_N_FEATURES];

static int waitForLetter()
{
  int letter;
  do {
    letter = Serial.read();
  } while (letter < 0);
  return letter;
}

static bool isBetweenNumbers(int letter)
{
  return letter == ',' || letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n';
}

static smidgen_input_t readNumber()
{
  char word[20];
  uint8_t n = 0;
  int letter;
  do {
    letter = waitForLetter();
  } while (isBetweenNumbers(letter));
  for (; !isBetweenNumbers(letter); letter = waitForLetter()) {
    if (n < sizeof word - 1) {
      word[n++] = (char)letter;
    }
  }
  word[n] = 0;
  return (smidgen_input_t)SMIDGEN_NUMBER;
}

void setup()
{
  Serial.begin(115200);
  Serial.println(F("SMIDGEN_NAME is ready"));
}

void loop()
{
  for (uint16_t i = 0; i < smidgen_N_FEATURES; ++i) {
    row[i] = readNumber();
  }
  SMIDGEN_ANSWER
}
