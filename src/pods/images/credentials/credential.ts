/** A name and a password for a registry. Never logged. */
export interface Login {
  readonly username: string
  readonly password: string
}

/** The object of the API that a login came from. */
export interface ObjectIdentity {
  readonly uid: string
  readonly namespace: string
  readonly name: string
}

/** A login that a pull may try; without a secret and an account it belongs to the node, and so to all its pods. */
export interface Credential {
  readonly login: Login
  readonly secret: ObjectIdentity | undefined
  /** The service account whose token a plugin gave the login for. */
  readonly account?: ObjectIdentity | undefined
}
