/** The browser's own store, as promises. */

export const answerOf = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

export const endOf = (transaction: IDBTransaction): Promise<void> =>
  new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });

/** `upgrade` makes what is not there yet. */
export function openDatabase(
  name: string,
  version: number,
  upgrade: (fresh: IDBDatabase) => void,
): Promise<IDBDatabase> {
  const opening = indexedDB.open(name, version);
  opening.onupgradeneeded = () => upgrade(opening.result);
  return new Promise((resolve, reject) => {
    // Another tab has an older one open: nobody waits for that.
    opening.onblocked = () => reject(new Error("An older page is open."));
    answerOf(opening).then((database) => {
      database.onversionchange = () => database.close();
      resolve(database);
    }, reject);
  });
}
