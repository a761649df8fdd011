import type { ClusterZone, ZoneRecord } from './cluster-zone.ts'
import { computeClusterAnswer } from './compute-cluster-answer.ts'
import { authorityOf, RCODES, toDnsRecord } from './dns-message.ts'
import type { DnsQuery, DnsReply } from './dns-message.ts'
import type { Forwarder } from './forwarder.ts'

export interface AnswerDeps {
  /** Undefined until all objects are known. */
  readonly zone: () => ClusterZone | undefined
  readonly forwarder: Pick<Forwarder, 'ask'>
  readonly random: () => number
}

const TTL_SECONDS = 5

/** Answers from the cluster's own names, and asks others for the rest. */
export async function answerQuery(deps: AnswerDeps, query: DnsQuery, signal: AbortSignal): Promise<DnsReply> {
  const zone = deps.zone()
  // Clients remember that a name does not exist: until all names are known there is no answer.
  if (zone === undefined) return { rcode: RCODES.SERVFAIL }
  const { question } = query
  const wantsDnssec = query.edns?.wantsDnssec === true
  const isApex = question.name.toLowerCase().replace(/\.$/, '') === zone.domain
  const authority = authorityOf(zone.domain, TTL_SECONDS)
  if (isApex && question.type === 'SOA') return { rcode: RCODES.NOERROR, isAuthoritative: true, answers: [authority] }
  const answer = computeClusterAnswer(zone, question.name, question.type)
  if (answer === undefined) return await deps.forwarder.ask(question, wantsDnssec, signal)
  const toRecords = (records: readonly ZoneRecord[]) => records.map((record) => toDnsRecord(record, TTL_SECONDS))
  const own = toRecords(shuffleAddresses(answer.records, deps.random))
  const followed =
    answer.follow === undefined
      ? undefined
      : await deps.forwarder.ask({ ...question, name: answer.follow }, wantsDnssec, signal)
  const answers = [...own, ...(followed?.answers ?? [])]
  return {
    rcode: answer.exists ? RCODES.NOERROR : RCODES.NXDOMAIN,
    isAuthoritative: true,
    answers,
    ...(answers.length === 0 && { authorities: [authority] }),
    additionals: toRecords(answer.additionals),
  }
}

/** Clients take the first: each one gets its turn. */
function shuffleAddresses(records: readonly ZoneRecord[], random: () => number): readonly ZoneRecord[] {
  const isAddress = ({ type }: ZoneRecord) => type === 'A' || type === 'AAAA'
  const mixed = records.filter(isAddress).map((record) => ({ record, place: random() }))
  return [
    ...records.filter((record) => !isAddress(record)),
    ...mixed.toSorted((a, b) => a.place - b.place).map(({ record }) => record),
  ]
}
