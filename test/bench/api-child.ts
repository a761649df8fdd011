/** The API of a standalone node in a process of its own, to be measured. Says where it is on its first line, and ends with its input. */
import process from 'node:process'
import { startApiServer } from '../component/api-server/start-secured-api.ts'

const [folder = ''] = process.argv.slice(2)
const api = await startApiServer(folder)
const { server, authorityPem, admin } = api
process.stdout.write(`${JSON.stringify({ server, authorityPem, admin })}\n`)
process.stdin.resume()
process.stdin.once('end', () => void api.stop())
