import packet from 'dns-packet'
import type { Answer, DecodedPacket, OptAnswer, Packet, Question } from 'dns-packet'
import type { ZoneRecord } from './cluster-zone.ts'

export type DnsRecord = Answer
export type DnsQuestion = Question

/** The codes of answers, as they stand on the wire. */
export const RCODES = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5 } as const
export type Rcode = (typeof RCODES)[keyof typeof RCODES]

const RECURSION_DESIRED = 0x0100
const RECURSION_AVAILABLE = 0x0080
const AUTHORITATIVE = 0x0400
const TRUNCATED = 0x0200
const DNSSEC_OK = 0x8000
const OPCODE_SHIFT = 11
const PLAIN_BYTES = 512
// What passes everywhere in one piece.
const LARGEST_UDP_BYTES = 1232
const BAD_VERSION = 1
const HEADER_BYTES = 12

/** A question that has come in. */
export interface DnsQuery {
  readonly id: number
  readonly question: Question
  readonly wantsRecursion: boolean
  /** The client's extension record, if it sent one. */
  readonly edns: { readonly udpBytes: number; readonly version: number; readonly wantsDnssec: boolean } | undefined
}

/** What is answered: to a question, or to what is none. */
export interface DnsReply {
  readonly rcode: Rcode
  readonly answers?: readonly Answer[]
  readonly authorities?: readonly Answer[]
  readonly additionals?: readonly Answer[]
  readonly isAuthoritative?: boolean
}

/** A query; the code of the refusal with its id where that can be read; undefined for what gets no answer. */
export function parseQuery(bytes: Buffer): DnsQuery | { readonly id: number; readonly refusal: Rcode } | undefined {
  if (bytes.length < HEADER_BYTES) return undefined
  const id = bytes.readUInt16BE(0)
  const flags = bytes.readUInt16BE(2)
  // An answer is never answered: two servers could do that for ever.
  if ((flags & 0x8000) !== 0) return undefined
  if (((flags >> OPCODE_SHIFT) & 0xf) !== 0) return { id, refusal: RCODES.NOTIMP }
  let decoded: DecodedPacket
  try {
    decoded = packet.decode(bytes)
  } catch {
    return { id, refusal: RCODES.FORMERR }
  }
  const [question, ...more] = decoded.questions ?? []
  if (question === undefined || more.length > 0) return { id, refusal: RCODES.FORMERR }
  if (question.class !== 'IN') return { id, refusal: RCODES.REFUSED }
  if (question.type === 'AXFR' || question.type === 'IXFR') return { id, refusal: RCODES.REFUSED }
  const opt = decoded.additionals?.find((record): record is OptAnswer => record.type === 'OPT')
  const edns = opt && {
    udpBytes: opt.udpPayloadSize,
    version: opt.ednsVersion,
    wantsDnssec: (opt.flags & DNSSEC_OK) !== 0,
  }
  return { id, question, wantsRecursion: (flags & RECURSION_DESIRED) !== 0, edns }
}

/** The bytes of an answer. One that is too long for UDP loses what is not needed, or says that it has to be asked for by TCP. */
export function formatReply(query: DnsQuery, reply: DnsReply, isTcp: boolean): Buffer {
  const { edns } = query
  const isBadVersion = edns !== undefined && edns.version !== 0
  const wanted = isBadVersion ? { rcode: RCODES.NOERROR } : reply
  const limit = isTcp ? 65_535 : Math.min(Math.max(edns?.udpBytes ?? PLAIN_BYTES, PLAIN_BYTES), LARGEST_UDP_BYTES)
  const whole = encode(query, wanted, isBadVersion ? BAD_VERSION : 0)
  if (whole.length <= limit) return whole
  const { additionals: _, ...less } = wanted
  const short = encode(query, less, 0)
  if (short.length <= limit) return short
  return encode(query, { rcode: reply.rcode, isAuthoritative: reply.isAuthoritative === true }, 0, TRUNCATED)
}

/** The refusal of what is no question. */
export function formatRefusal(id: number, rcode: Rcode): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES)
  bytes.writeUInt16BE(id, 0)
  bytes.writeUInt16BE(0x8000 | RECURSION_AVAILABLE | rcode, 2)
  return bytes
}

function encode(query: DnsQuery, reply: DnsReply, extendedRcode: number, extraFlags = 0): Buffer {
  const opt = query.edns && {
    type: 'OPT' as const,
    name: '.',
    udpPayloadSize: LARGEST_UDP_BYTES,
    extendedRcode,
    ednsVersion: 0,
    flags: query.edns.wantsDnssec ? DNSSEC_OK : 0,
    flag_do: query.edns.wantsDnssec,
    options: [],
  }
  const flags =
    (query.wantsRecursion ? RECURSION_DESIRED : 0) |
    RECURSION_AVAILABLE |
    (reply.isAuthoritative === true ? AUTHORITATIVE : 0) |
    extraFlags |
    reply.rcode
  const message: Packet = {
    type: 'response',
    id: query.id,
    flags,
    questions: [query.question],
    answers: [...(reply.answers ?? [])],
    authorities: [...(reply.authorities ?? [])],
    additionals: [...(reply.additionals ?? []), ...(opt ? [opt as unknown as Answer] : [])],
  }
  return packet.encode(message)
}

/** The bytes of a question to another server. */
export function formatQuestion(id: number, question: Question, wantsDnssec: boolean): Buffer {
  const opt = {
    type: 'OPT',
    name: '.',
    udpPayloadSize: LARGEST_UDP_BYTES,
    flags: wantsDnssec ? DNSSEC_OK : 0,
    options: [],
  }
  const additionals = [opt as unknown as Answer]
  return packet.encode({ type: 'query', id, flags: RECURSION_DESIRED, questions: [question], additionals })
}

/** The answer of another server; undefined when it is none to the question. */
export function parseReply(
  bytes: Buffer,
  id: number,
  question: Question,
): { readonly reply: DnsReply; readonly isTruncated: boolean } | undefined {
  try {
    const decoded = packet.decode(bytes)
    const [asked] = decoded.questions ?? []
    const isOurs = decoded.type === 'response' && decoded.id === id && asked?.type === question.type
    if (!isOurs || asked.name.toLowerCase() !== question.name.toLowerCase()) return undefined
    const additionals = (decoded.additionals ?? []).filter(({ type }) => type !== 'OPT')
    const rcode = (bytes.readUInt16BE(2) & 0xf) as Rcode
    const reply = { rcode, answers: decoded.answers ?? [], authorities: decoded.authorities ?? [], additionals }
    return { reply, isTruncated: (bytes.readUInt16BE(2) & TRUNCATED) !== 0 }
  } catch {
    return undefined
  }
}

/** A record of the cluster for the wire. */
export function toDnsRecord(record: ZoneRecord, ttl: number): Answer {
  return { ...record, ttl, class: 'IN' }
}

/** What says how long the absence of a name may be remembered. */
export function authorityOf(domain: string, ttl: number): Answer {
  const data = {
    mname: `ns.dns.${domain}`,
    rname: `hostmaster.${domain}`,
    serial: 1,
    refresh: 7200,
    retry: 1800,
    expire: 86_400,
    minimum: ttl,
  }
  return { type: 'SOA', name: domain, ttl, class: 'IN', data }
}
