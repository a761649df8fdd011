const LEADING_BLANKS = /[ \t]*/y
/** What may follow a value, and what a line without a variable is. */
const REST_OF_LINE = /[ \t]*(?:#[^\n]*)?(?:\n|$)/y
const NAME = /[^=\n]*(?==)/y
const BLANK = /[ \t]/
const LINE = /[^\n]*\n?/y

/**
 * The value of a variable in a file of lines like NAME='value', as a shell would take it. Undefined when it is not in there or empty. Only
 * what comes before the variable has to be well-formed, as the file may still be written. Errors never show the content: it may be secret.
 */
export function parseEnvFile(content: string, wanted: string): string | undefined {
  // A line may end as it does on Windows, also inside a value.
  const text = content.replaceAll(/\r(?=\n|$)/g, '')
  for (let at = 0; at < text.length;) {
    const blank = matchAt(REST_OF_LINE, text, at)
    if (blank !== undefined) {
      at += blank.length
      continue
    }
    const variable = parseVariable(text, at)
    if (variable.name === wanted) return variable.value === '' ? undefined : variable.value
    at = variable.end
  }
  return undefined
}

function parseVariable(text: string, lineStart: number) {
  const start = lineStart + (matchAt(LEADING_BLANKS, text, lineStart) ?? '').length
  const name = matchAt(NAME, text, start)
  if (name === undefined) throw problem(text, start, 'expected a "=" after the name')
  if (name === '') throw problem(text, start, 'expected a name before the "="')
  if (BLANK.test(name.at(-1) ?? '')) throw problem(text, start, 'expected no blank before the "="')
  const from = start + name.length + 1
  // For a shell that is an empty value, and then a command.
  if (BLANK.test(text[from] ?? '')) return { name, value: '', end: from + (matchAt(LINE, text, from) ?? '').length }
  if (text[from] !== "'") throw problem(text, start, 'expected a value in single quotes')
  const close = text.indexOf("'", from + 1)
  if (close < 0) throw problem(text, start, 'expected a second quote after the value')
  const rest = matchAt(REST_OF_LINE, text, close + 1)
  if (rest === undefined) throw problem(text, close, 'expected nothing but a comment after the value')
  return { name, value: text.slice(from + 1, close), end: close + 1 + rest.length }
}

function matchAt(sticky: RegExp, text: string, at: number): string | undefined {
  sticky.lastIndex = at
  return sticky.exec(text)?.[0]
}

function problem(text: string, at: number, expected: string): Error {
  return new Error(`line ${text.slice(0, at).split('\n').length}: ${expected}`)
}
