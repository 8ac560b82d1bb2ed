/** A map that keeps what was used last. */

/** @template V */
export class Cache {
  /** @param {number} limit */
  constructor(limit) {
    this.limit = limit;
    /** @type {Map<string, V>} */
    this.kept = new Map();
  }

  /** @param {string} key @returns {V | undefined} */
  get(key) {
    const value = this.kept.get(key);
    if (value !== undefined) {
      this.kept.delete(key);
      this.kept.set(key, value);
    }
    return value;
  }

  /** Whether it is there; this is no use of it. @param {string} key */
  has(key) {
    return this.kept.has(key);
  }

  /** @param {string} key @param {V} value */
  set(key, value) {
    this.kept.delete(key);
    this.kept.set(key, value);
    if (this.kept.size > this.limit) {
      const oldest = this.kept.keys().next();
      if (!oldest.done) this.kept.delete(oldest.value);
    }
  }

  /** Forget all keys that begin so. @param {string} prefix */
  drop(prefix) {
    for (const key of [...this.kept.keys()]) if (key.startsWith(prefix)) this.kept.delete(key);
  }
}
