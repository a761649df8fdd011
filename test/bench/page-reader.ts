/**
 * Keeps the page of a node open, as a browser does that shows the first screen, and prints a line when it has everything.
 * page-reader.ts LINK
 */
import process from 'node:process'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'

const link = process.argv[2] ?? ''
const { origin } = new URL(link)
const { headers } = await fetch(link, { redirect: 'manual' })
const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';')
const opened = await fetch(`${origin}/session`, { method: 'POST', headers: { cookie, origin } })
const { key } = (await opened.json()) as { readonly key: string }
const { body } = await fetch(`${origin}/live`, { headers: { cookie, 'x-deckhand-key': key } })
if (body === null) throw new Error('Cannot read the page: it sends nothing')
for await (const line of createInterface({ input: Readable.fromWeb(body) }))
  if ((JSON.parse(line) as { readonly kind: string }).kind === 'sample') console.log('sample')
