const DEFINITIONS = {}; // written anew by every build
