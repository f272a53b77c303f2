import { sharesTheVault } from './vault.mjs';

sharesTheVault('the file one');
