/** The lines of a stream of text, in the batches in which they come. */
export async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true })
      const lines = rest.split('\n')
      rest = done ? '' : (lines.pop() ?? '')
      const whole = done ? lines.filter((line) => line !== '') : lines
      if (whole.length > 0) yield whole
      if (done) return
    }
  } finally {
    void reader.cancel().catch(() => {})
  }
}
