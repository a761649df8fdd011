/** Makes connections, each for one request: connection-client.ts URL OTHER_URL COUNT SECONDS. One in ten goes to the other URL. */
import { get } from 'node:http'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'

const [url = '', other = '', count = '', seconds = ''] = process.argv.slice(2)
const WORKERS = 20
const DEADLINE_MS = 10_000
const total = Number(count)
const pauseMs = (Number(seconds) * 1000 * WORKERS) / total
const failures: Record<string, number> = {}
let begun = 0
let done = 0

function ask(target: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const request = get(target, { agent: false, timeout: DEADLINE_MS }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      response.on('error', (error) => resolve(`answer broke off: ${error.message}`))
      response.on('end', () =>
        resolve(response.statusCode === 200 && text.startsWith('web-') ? undefined : `answer ${response.statusCode}`),
      )
    })
    request.on('timeout', () => request.destroy(new Error('time-out')))
    request.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
  })
}

async function work(): Promise<void> {
  while (begun < total) {
    begun += 1
    const isOther = begun % 10 === 0
    const began = performance.now()
    const failure = await ask(isOther ? other : url)
    done += 1
    if (failure !== undefined) {
      const what = `${isOther ? 'ingress' : 'service'}: ${failure}`
      failures[what] = (failures[what] ?? 0) + 1
    }
    await sleep(Math.max(0, pauseMs - (performance.now() - began)))
  }
}

await Promise.all(Array.from({ length: WORKERS }, work))
console.log(JSON.stringify({ done, failures }))
