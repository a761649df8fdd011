export const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client-kubelet'
export const SERVING_SIGNER = 'kubernetes.io/kubelet-serving'

/** What a certificate request says, as far as the kubelet's signers read it. */
export interface RequestedCertificate {
  /** Undefined unless there is exactly one. */
  readonly commonName: string | undefined
  readonly organizations: readonly string[]
  /** DNS names and addresses, each in its normal form. */
  readonly dnsNames: readonly string[]
  readonly addresses: readonly string[]
  /** Names of kinds that no certificate of a kubelet has, such as e-mail addresses. */
  readonly otherNames: readonly string[]
}

/** A request for a certificate with what is known of its sender. */
export interface SigningQuestion {
  readonly signerName: string
  readonly usages: readonly string[]
  readonly userName: string
  readonly groups: readonly string[]
  readonly requested: RequestedCertificate
  /** The addresses and names of the node that it is for, in their normal form; undefined when there is no such node. */
  readonly nodeAddresses: readonly string[] | undefined
  /** The node that this API is for. */
  readonly nodeName: string
  /** Whether that node has got a credential already without asking for it, from the API itself. */
  readonly hasCredential: boolean
}

/** What to do with a request. */
export type SigningDecision =
  | { readonly kind: 'approve' | 'deny'; readonly reason: string; readonly message: string }
  /** What is missing may still come, or an administrator decides; the reason is for that one. */
  | { readonly kind: 'wait'; readonly message?: string }

const NODE_PREFIX = 'system:node:'
const NODE_GROUP = 'system:nodes'
const BOOTSTRAP_GROUP = 'system:bootstrappers'
const REASON = 'KubeletPolicy'

/** Whether a request is one that is always granted, or never. Others wait for an administrator. */
export function computeSigningDecision(question: SigningQuestion): SigningDecision {
  const isNode = question.groups.includes(NODE_GROUP) && question.userName.startsWith(NODE_PREFIX)
  const isBootstrap = question.groups.includes(BOOTSTRAP_GROUP)
  if (!isNode && !isBootstrap) return { kind: 'wait' }
  const fault = computeRequestFault(question)
  if (fault !== undefined) return deny(fault)
  const { commonName = '' } = question.requested
  if (isNode && commonName !== question.userName) {
    return deny(`"${question.userName}" asks for a certificate of another node, "${commonName}"`)
  }
  if (question.signerName === CLIENT_SIGNER) {
    if (!isNode && commonName !== `${NODE_PREFIX}${question.nodeName}`) {
      return deny(`a bootstrap token is only good for node "${question.nodeName}", not for "${commonName}"`)
    }
    // The identity of a node opens what its pods may read, and who has a token is not yet that node. One that lost its key needs a person.
    if (!isNode && (question.hasCredential || question.nodeAddresses !== undefined)) {
      return {
        kind: 'wait',
        message: `node "${question.nodeName}" exists: a bootstrap token is only good for a new one`,
      }
    }
    return approve('the request is for the client certificate of the node itself')
  }
  if (!isNode) return deny('a bootstrap token is not good for serving certificates')
  return computeServingDecision(question)
}

function computeServingDecision({ requested, userName, nodeAddresses }: SigningQuestion): SigningDecision {
  if (nodeAddresses === undefined) return { kind: 'wait' }
  const own = [userName.slice(NODE_PREFIX.length), ...nodeAddresses]
  const foreign = [...requested.dnsNames, ...requested.addresses].find((name) => !own.includes(name))
  // A node that has not reported its addresses yet may still report this one.
  if (foreign !== undefined && nodeAddresses.length === 0) return { kind: 'wait' }
  if (foreign !== undefined) return deny(`"${foreign}" is not an address of the node`)
  return approve('the request is for the serving certificate of the node, with addresses that are its own')
}

/** Why the signer cannot sign a request, even an approved one; undefined when it can. */
export function computeRequestFault({
  signerName,
  usages,
  requested,
}: Pick<SigningQuestion, 'signerName' | 'usages' | 'requested'>): string | undefined {
  const { commonName, organizations, dnsNames, addresses, otherNames } = requested
  const use = signerName === CLIENT_SIGNER ? 'client auth' : 'server auth'
  const needed = ['digital signature', use]
  const allowed = [...needed, 'key encipherment']
  if (organizations.length !== 1 || organizations[0] !== NODE_GROUP)
    return `its organization has to be "${NODE_GROUP}" alone`
  if (commonName === undefined || !isNodeUser(commonName))
    return `its one common name has to be "${NODE_PREFIX}" and the name of a node`
  if (!needed.every((usage) => usages.includes(usage)) || !usages.every((usage) => allowed.includes(usage))) {
    return `its usages have to be ${needed.map((usage) => `"${usage}"`).join(', ')} and may be "key encipherment"`
  }
  if (otherNames.length > 0) return 'it may have no other alternative names than DNS names and addresses'
  if (signerName === CLIENT_SIGNER) {
    return dnsNames.length + addresses.length === 0
      ? undefined
      : 'the certificate of a client may have no alternative names'
  }
  return dnsNames.length + addresses.length > 0 ? undefined : 'it needs at least one DNS name or address'
}

function isNodeUser(name: string): boolean {
  return /^system:node:[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(name)
}

function approve(message: string): SigningDecision {
  return { kind: 'approve', reason: REASON, message: `Approved: ${message}` }
}

function deny(message: string): SigningDecision {
  return { kind: 'deny', reason: REASON, message: `Denied: ${message}` }
}
